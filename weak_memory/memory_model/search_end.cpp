#include "weak_memory/memory_model/search_end.h"

#include <fmt/format.h>

namespace barracuda::memory_model {

std::string SearchEnd::bound() const {
  if (is_stopped()) {
    return fmt::format("{} s (interrupted)", static_cast<std::uint64_t>(age()));
  }
  return age() > options_.seconds ? fmt::format("{:g} s", options_.seconds) : "";
}

}  // namespace barracuda::memory_model

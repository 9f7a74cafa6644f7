#include "emulator/state/program.h"

#include <algorithm>
#include <cstdlib>

namespace barracuda::emulator {

void ConstantsDeleter::operator()(std::byte* memory) const { std::free(memory); }

const Function* Program::function_at(std::uint64_t address) const {
  const auto found = std::lower_bound(
      addresses.begin(), addresses.end(), address,
      [](const auto& entry, std::uint64_t value) { return entry.first < value; });
  return found != addresses.end() && found->first == address ? found->second : nullptr;
}

}  // namespace barracuda::emulator

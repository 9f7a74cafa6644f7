#include "emulator/state/program.h"

#include <algorithm>
#include <cstdlib>

namespace barracuda::emulator {

void ConstantsDeleter::operator()(std::byte* memory) const {
  std::free(memory);
}

const Function* Program::function_at(std::uint64_t address) const {
  const auto found = std::ranges::lower_bound(addresses, address, {},
                                              [](const auto& entry) { return entry.first; });
  return found != addresses.end() && found->first == address ? found->second : nullptr;
}

}  // namespace barracuda::emulator

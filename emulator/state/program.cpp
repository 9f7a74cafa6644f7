#include "emulator/state/program.h"

#include <algorithm>
#include <cstdlib>

namespace barracuda::emulator {

void ConstantsDeleter::operator()(std::byte* memory) const {
  std::free(memory);
}

bool Program::is_valid() const {
  const auto is_in_frame = [](const Function& function, Slot slot) {
    return slot == kNoSlot || (slot & kConstantSlot) != 0 || slot < function.register_bytes;
  };
  for (std::size_t index = 0; index < functions.size(); ++index) {
    const Function& function = *functions[index];
    if (function.index != index || function.is_entry != (index == 0) || function.code.empty() ||
        function.constants == nullptr) {
      return false;
    }
    for (const Instruction& in : function.code) {
      if (in.handler == nullptr || in.statement >= texts->size() ||
          !is_in_frame(function, in.predicate) || !is_in_frame(function, in.d)) {
        return false;
      }
    }
  }
  return !functions.empty() && std::ranges::is_sorted(addresses);
}

const Function* Program::function_at(std::uint64_t address) const {
  const auto found = std::ranges::lower_bound(addresses, address, {},
                                              [](const auto& entry) { return entry.first; });
  return found != addresses.end() && found->first == address ? found->second : nullptr;
}

}  // namespace barracuda::emulator

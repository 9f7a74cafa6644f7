// What a stream waits for in memory (cuStreamWaitValue32 and its kin).
#pragma once

#include <cstdint>

namespace barracuda {

// The numbers are CUstreamWaitValue_flags'.
enum class ValueCondition : std::uint8_t { kAtLeast = 0, kEqual = 1, kAnyBit = 2, kAnyZero = 3 };

struct ValueWait {
  std::uint64_t address = 0;
  std::uint64_t value = 0;
  std::uint32_t bytes = 4;  // or 8
  ValueCondition condition = ValueCondition::kAtLeast;

  // Whether it is over with what is found there. Counters may go round.
  [[nodiscard]] constexpr bool is_met(std::uint64_t found) const {
    const std::uint64_t mask = bytes == 8 ? ~std::uint64_t{0} : 0xFFFFFFFF;
    switch (condition) {
      case ValueCondition::kAtLeast:
        return ((found - value) & mask) <= mask >> 1;
      case ValueCondition::kEqual:
        return ((found ^ value) & mask) == 0;
      case ValueCondition::kAnyBit:
        return (found & value & mask) != 0;
      case ValueCondition::kAnyZero:
        return (~(found | value) & mask) != 0;
    }
    return false;
  }
};

static_assert(ValueWait{.value = 0xFFFFFFFF}.is_met(0) && !ValueWait{.value = 1}.is_met(0) &&
              !ValueWait{.value = 0xFFFFFFFF, .bytes = 8}.is_met(0));

}  // namespace barracuda

// What is asked of the response of a clusterlaunchcontrol.try_cancel. It is opaque (PTX ISA): here
// the first block's index in three words, and in the fourth whether there is one.
#include <array>

#include "emulator/execute/asynchronous.h"
#include "emulator/execute/lanes/lanes.h"

namespace barracuda::emulator {

using baseline::source;
using baseline::target;

namespace {

constexpr Slot kHalfBytes = kLanes * 8;  // the halves of a 128-bit register lie in a row

std::uint32_t word_of(const Context& c, Slot response, std::uint32_t number, std::uint32_t lane) {
  const auto* half = source<std::uint64_t>(c, response + number / 2 * kHalfBytes);
  return static_cast<std::uint32_t>(half[lane] >> (number % 2 * 32));
}

}  // namespace

Step execute_is_canceled(Context& c, const Instruction& in, std::uint32_t mask) {
  std::uint32_t canceled = 0;
  for (const std::uint32_t lane : SetBits(mask)) {
    canceled |= (word_of(c, in.a, 3, lane) & 1) << lane;
  }
  baseline::set_predicate(c, in.d, canceled, mask);
  return Step::kNext;
}

Step execute_first_block(Context& c, const Instruction& in, std::uint32_t mask) {
  auto* const to = target<std::uint32_t>(c, in.d);
  for (const std::uint32_t lane : SetBits(mask)) {
    to[lane] = word_of(c, in.a, static_cast<std::uint32_t>(in.immediate), lane);
  }
  return Step::kNext;
}

}  // namespace barracuda::emulator

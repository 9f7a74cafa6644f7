// Which block of the program a block of the device is. A GPU starts the blocks of a grid in the
// order of their numbers; a launch that gives them other numbers lets other blocks come first.
#pragma once

#include <cstdint>

#include "device_logger/record.h"

namespace barracuda::wire {

// Blocks trade numbers only within a window of `window` consecutive ones, all of which the device
// can hold at once. So a block that waits for blocks with lower numbers, as those of a look-back
// scan do, waits only for blocks that have started or will start without it.
struct BlockOrder {
  std::uint16_t window = 0;  // 0: the program's numbers are the device's
  // What a number is multiplied by before it is rotated: 1, or a prime above the window, which so
  // has no divisor in common with the size of any window, the last one's included.
  std::uint16_t factor = 1;
  std::uint32_t turn = 0;  // by how much the numbers of a window are rotated, and kBackwards

  static constexpr std::uint32_t kBackwards = 1U << 31;
};

// The program's number of the device's block `block` of `blocks`: a bijection.
BARRACUDA_WIRE std::uint32_t program_block(const BlockOrder& order, std::uint32_t block,
                                           std::uint32_t blocks) {
  if (order.window == 0) {
    return block;
  }
  const std::uint32_t place = block % order.window;
  const std::uint32_t first = block - place;
  const std::uint32_t size = blocks - first < order.window ? blocks - first : order.window;
  const std::uint32_t from = (order.turn & BlockOrder::kBackwards) != 0 ? size - 1 - place : place;
  // No overflow: both factors have 16 bits.
  return first + (from * order.factor + (order.turn & ~BlockOrder::kBackwards) % size) % size;
}

}  // namespace barracuda::wire

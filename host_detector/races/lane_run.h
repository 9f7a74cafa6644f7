// Lanes of an access whose addresses go up in their order by one power of two that has room for
// the access: in a block they are one cell, since the lane follows from the byte
// (Cell::lane_shift).
#pragma once

#include <cstdint>

#include "host_detector/warp_operation.h"

namespace barracuda::detector {

struct LaneRun {
  std::uint32_t lanes = 0;
  std::uint8_t shift = 0;  // log2 of the bytes from lane to lane
};

// The run that the first of `lanes` begins, be it that lane alone. `width`: bytes of one lane.
LaneRun first_run(const WarpOperation& operation, std::uint32_t lanes, std::uint32_t width);

// The first of `lanes` and those after it that share its address, up to the first that does not.
std::uint32_t first_same_address(const WarpOperation& operation, std::uint32_t lanes);

// Certainly no two lanes touch one byte: their addresses go up.
bool are_apart(const WarpOperation& operation, std::uint32_t lanes, std::uint32_t width);

}  // namespace barracuda::detector

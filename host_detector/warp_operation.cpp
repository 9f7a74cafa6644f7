#include "host_detector/warp_operation.h"

#include "base/assert.h"
#include "host_detector/lanes.h"

namespace barracuda::detector {

WarpOperation WarpOperation::with_all_lanes() const {
  ASSERT(mask != 0);
  WarpOperation full = *this;
  const std::uint32_t first = first_lane(mask);
  const auto stride = static_cast<std::uint64_t>(row_stride);
  for (std::uint32_t lane = first; lane < wire::kWarpLanes; ++lane) {
    full.lanes[lane] = {.address = (lanes[first].address + (lane - first) * stride) & kAddressBits};
  }
  full.has_all_lanes = true;
  return full;
}

}  // namespace barracuda::detector

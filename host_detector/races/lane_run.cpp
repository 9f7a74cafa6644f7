#include "host_detector/races/lane_run.h"

#include <bit>

#include "host_detector/lanes.h"
#include "host_detector/shadow/cell.h"

namespace barracuda::detector {
namespace {

std::uint32_t row_of(const WarpOperation& operation, std::uint32_t lane) {
  const std::uint32_t size = std::uint32_t{1} << operation.row_log2;
  const std::uint32_t row = size == wire::kWarpLanes ? kAllLanes : (std::uint32_t{1} << size) - 1;
  return row << (lane & ~(size - 1));
}

bool has_room(std::uint64_t stride, std::uint64_t start, std::uint32_t width) {
  return is_single(stride) && stride <= kBlockBytes / 2 && (start & (stride - 1)) + width <= stride;
}

// Those of `lanes` that lie `stride` bytes apart from the first on.
std::uint32_t lanes_apart(const WarpOperation& operation, std::uint32_t lanes,
                          std::uint64_t stride) {
  const std::uint32_t first = first_lane(lanes);
  const std::uint64_t start = operation.lanes[first].address - first * stride;
  std::uint32_t apart = 0;
  for (const std::uint32_t lane : SetBits(lanes)) {
    if (operation.lanes[lane].address != start + lane * stride) {
      break;
    }
    apart |= std::uint32_t{1} << lane;
  }
  return apart;
}

// Bytes from lane to lane if all up to `second` lie equally far apart.
std::uint64_t stride_to_second(const WarpOperation& operation, std::uint32_t first,
                               std::uint32_t second) {
  const std::uint64_t step = operation.lanes[second].address - operation.lanes[first].address;
  return second == first + 1 ? step : step / (second - first);
}

}  // namespace

LaneRun first_run(const WarpOperation& operation, std::uint32_t lanes, std::uint32_t width) {
  const std::uint32_t first = first_lane(lanes);
  const std::uint64_t start = operation.lanes[first].address;
  const std::uint32_t others = lanes & (lanes - 1);
  LaneRun run{.lanes = std::uint32_t{1} << first};
  if (others == 0) {
    return run;
  }
  const bool has_rows = operation.row_log2 != 0;
  const std::uint64_t stride = has_rows ? static_cast<std::uint64_t>(operation.row_stride)
                                        : stride_to_second(operation, first, first_lane(others));
  if (has_room(stride, start, width)) {
    run.shift = static_cast<std::uint8_t>(std::countr_zero(stride));
    run.lanes = has_rows ? lanes & row_of(operation, first) : lanes_apart(operation, lanes, stride);
  }
  return run;
}

std::uint32_t first_same_address(const WarpOperation& operation, std::uint32_t lanes) {
  return lanes_apart(operation, lanes, 0);
}

bool are_apart(const WarpOperation& operation, std::uint32_t lanes, std::uint32_t width) {
  std::uint64_t end = 0;
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const std::uint64_t address = operation.lanes[first_lane(rest)].address;
    if (address < end) {
      return false;
    }
    end = address + width;
  }
  return true;
}

}  // namespace barracuda::detector

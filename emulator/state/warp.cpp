#include "emulator/state/warp.h"

#include <algorithm>

namespace barracuda::emulator {

bool LocalMemory::reserve(std::uint32_t lane_bytes) {
  if (lane_bytes > kMaximumLaneBytes) {
    return false;
  }
  const std::size_t wanted = (std::size_t{lane_bytes} + 7) / 8 * 8 * kLanes;
  if (wanted > memory_.size()) {
    memory_.resize(
        std::max(wanted, std::min(memory_.size() * 2, std::size_t{kMaximumLaneBytes} * kLanes)));
  }
  return true;
}

}  // namespace barracuda::emulator

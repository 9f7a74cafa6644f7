#include "emulator/state/warp.h"

#include <algorithm>

#include "base/align.h"

namespace barracuda::emulator {

bool Warp::is_valid() const {
  std::uint32_t seen = 0;
  for (const Fragment& fragment : fragments) {
    const bool is_framed = fragment.frame != nullptr && fragment.frame->function != nullptr &&
                           (fragment.mask & ~fragment.frame->lanes) == 0 &&
                           fragment.pc <= fragment.frame->function->code.size();
    if (fragment.mask != 0 && (!is_framed || (seen & fragment.mask) != 0)) {
      return false;
    }
    seen |= fragment.mask;
  }
  return seen == live;
}

bool LocalMemory::reserve(std::uint32_t lane_bytes) {
  if (lane_bytes > kMaximumLaneBytes) {
    return false;
  }
  const std::size_t wanted = align_up(std::size_t{lane_bytes}, 8) * kLanes;
  if (wanted > memory_.size()) {
    memory_.resize(
        std::max(wanted, std::min(memory_.size() * 2, std::size_t{kMaximumLaneBytes} * kLanes)));
  }
  return true;
}

}  // namespace barracuda::emulator

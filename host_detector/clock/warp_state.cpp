#include "host_detector/clock/warp_state.h"

#include <algorithm>

namespace barracuda::detector {

WarpState::WarpState(CtaKey cta, std::uint32_t warp, std::uint32_t lanes, const Clock& initial)
    : cta_(cta), warp_(warp), alive_(lanes), uniform_{.clock = initial, .fences = nullptr} {}

void WarpState::exit(std::uint32_t lanes) {
  alive_ &= ~lanes;
  waiting &= ~lanes;
  for (WarpBarrier& barrier : warp_barriers) {
    barrier.waiting &= ~lanes;
  }
  merge_if_equal();
}

void WarpState::merge_if_equal() {
  if (split_ == nullptr) {
    return;
  }
  if (alive_ == 0) {
    split_.reset();
    return;
  }
  const ThreadState& first = (*split_)[first_lane(alive_)];
  for (std::uint32_t rest = alive_ & (alive_ - 1); rest != 0; rest &= rest - 1) {
    if (!first.shares_all_with((*split_)[first_lane(rest)])) {
      return;
    }
  }
  uniform_ = first;
  split_.reset();
}

void WarpState::set(std::uint32_t lanes, const ThreadState& state) {
  if ((alive_ & ~lanes) == 0) {
    const ThreadState copy = state;  // it may be one of ours
    split_.reset();
    uniform_ = copy;
    return;
  }
  const ThreadState copy = state;
  if (split_ == nullptr) {
    if (copy.shares_all_with(uniform_)) {
      return;
    }
    split_ = std::make_unique<std::array<ThreadState, wire::kWarpLanes>>();
    for (std::uint32_t rest = alive_; rest != 0; rest &= rest - 1) {
      (*split_)[first_lane(rest)] = uniform_;
    }
  }
  for (std::uint32_t rest = lanes & alive_; rest != 0; rest &= rest - 1) {
    (*split_)[first_lane(rest)] = copy;
  }
  merge_if_equal();
}

Clock WarpState::with_own(const Clock& clock, std::uint32_t lanes, Tick own) const {
  Clock mine = clock;
  if (own != 0) {
    const WarpTick known{.warp = warp_, .lanes = lanes | absent(), .tick = own};
    mine.raise(cta_, {&known, 1});
  }
  return mine;
}

void WarpState::set_stack(std::uint32_t lane, std::uint32_t stack) {
  stacks_[lane] = stack;
  one_stack_ = true;
  const std::uint32_t first = alive_ != 0 ? stacks_[first_lane(alive_)] : 0;
  for (std::uint32_t rest = alive_; rest != 0 && one_stack_; rest &= rest - 1) {
    one_stack_ = stacks_[first_lane(rest)] == first;
  }
}

}  // namespace barracuda::detector

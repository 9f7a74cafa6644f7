#include "host_detector/clock/warp_state.h"

#include <algorithm>
#include <utility>

namespace barracuda::detector {

WarpState::WarpState(CtaKey cta, std::uint32_t warp, std::uint32_t lanes, const Clock& initial)
    : cta_(cta), warp_(warp), alive_(lanes), uniform_{.clock = initial, .fences = nullptr} {}

bool WarpState::is_valid() const {
  const auto all_alive = [&](auto holds) { return lanes_where(alive_, holds) == alive_; };
  const std::uint32_t first = alive_ == 0 ? 0 : first_lane(alive_);
  const bool are_waiting_alive =
      (waiting & ~alive_) == 0 &&
      std::ranges::all_of(warp_barriers, [this](const WarpBarrier& barrier) {
        return (barrier.waiting & ~alive_) == 0;
      });
  const bool are_split_apart =
      split_ == nullptr || (alive_ != 0 && !all_alive([&](std::uint32_t lane) {
                              return (*split_)[first].shares_all_with((*split_)[lane]);
                            }));
  const bool are_stacks_told_apart =
      !one_stack_ || all_alive([&](std::uint32_t lane) { return stacks_[lane] == stacks_[first]; });
  return now_ != 0 && are_waiting_alive && are_split_apart && are_stacks_told_apart;
}

void WarpState::exit(std::uint32_t lanes) {
  alive_ &= ~lanes;
  waiting &= ~lanes;
  for (WarpBarrier& barrier : warp_barriers) {
    barrier.waiting &= ~lanes;
  }
  merge_if_equal();
  DEBUG_ASSERT(is_valid());
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
    ThreadState copy = state;  // it may be one of ours
    split_.reset();
    uniform_ = std::move(copy);
    return;
  }
  const ThreadState copy = state;  // NOLINT(performance-unnecessary-copy-initialization): as above
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
  DEBUG_ASSERT(is_valid());
}

Clock WarpState::with_own(const Clock& clock, std::uint32_t lanes, Time own) const {
  Clock mine = clock;
  if (own != 0) {
    const WarpTime known{.slot = warp_slot(warp_), .lanes = lanes | absent(), .time = own};
    mine.raise(cta_, {&known, 1});
  }
  return mine;
}

Clock WarpState::known_to(std::uint32_t lane) const {
  DEBUG_ASSERT(lane < wire::kWarpLanes);
  const std::uint32_t bit = std::uint32_t{1} << lane;
  Clock known = with_own(state(lane).clock, bit, now_);
  if (completions_ != nullptr) {
    std::vector<WarpTime> waited;
    add_waited(bit, waited);
    known.raise(cta_, waited);
  }
  return known;
}

Completions& WarpState::completions() {
  if (completions_ == nullptr) {
    completions_ = std::make_unique<Completions>();
  }
  return *completions_;
}

void WarpState::add_waited(std::uint32_t lanes, std::vector<WarpTime>& times) const {
  if (completions_ == nullptr) {
    return;
  }
  completions_->for_each_waited(lanes, [&](Completion completion, std::uint32_t same, Time time) {
    times.push_back(
        {.slot = completion_slot(completion, warp_), .lanes = same | absent(), .time = time});
  });
}

void WarpState::join_completions(std::uint32_t lanes) {
  if (completions_ == nullptr) {
    return;
  }
  for (const std::uint32_t lane : SetBits(lanes & alive_)) {
    ThreadState after = state(lane);
    std::vector<WarpTime> news;
    add_waited(std::uint32_t{1} << lane, news);
    std::erase_if(news, [&](const WarpTime& waited) {
      return after.clock.at({.cta = cta_, .slot = waited.slot, .lane = lane}) >= waited.time;
    });
    if (!news.empty()) {
      after.clock.raise(cta_, news);
      set(std::uint32_t{1} << lane, after);
    }
  }
}

void WarpState::end_kept_copies() {
  if (completions_ != nullptr) {
    completions_->end_kept_interval();
  }
}

void WarpState::set_stack(std::uint32_t lane, std::uint32_t stack) {
  ASSERT(lane < wire::kWarpLanes);
  stacks_[lane] = stack;
  one_stack_ = true;
  const std::uint32_t first = alive_ != 0 ? stacks_[first_lane(alive_)] : 0;
  for (std::uint32_t rest = alive_; rest != 0 && one_stack_; rest &= rest - 1) {
    one_stack_ = stacks_[first_lane(rest)] == first;
  }
  DEBUG_ASSERT(is_valid());
}

}  // namespace barracuda::detector

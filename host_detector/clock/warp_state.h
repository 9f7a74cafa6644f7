// The threads of one warp: one state while its lanes know the same, one a lane while they do not.
// Lossless: lanes are merged again only when their states are identical.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "base/assert.h"
#include "host_detector/clock/completions.h"
#include "host_detector/clock/counted_barriers.h"
#include "host_detector/clock/sync_notes.h"
#include "host_detector/clock/thread_state.h"
#include "host_detector/lanes.h"

namespace barracuda::detector {

class WarpState {
 public:
  WarpState(CtaKey cta, std::uint32_t warp, std::uint32_t lanes, const Clock& initial);

  [[nodiscard]] CtaKey cta() const { return cta_; }

  [[nodiscard]] std::uint32_t warp() const { return warp_; }

  [[nodiscard]] Time now() const { return now_; }

  void advance() { ++now_; }

  // Somebody may learn from now on of what its lanes have done so far.
  void publish() { published_ = std::min(published_, now_); }

  [[nodiscard]] bool has_published() const { return published_ != kNever; }

  // All of its lanes have passed a barrier of their block.
  void begin_interval() { published_ = kNever; }

  // When a lane made an access that is logged late (kEarlier), in the interval of that number. If
  // the lane had published nothing before it, the warp's first publication is as good a time, but
  // never a time before a barrier of the warp that the access came after.
  [[nodiscard]] Time time_of_kept(std::uint32_t interval, bool is_before_publications) const {
    const Time last = counted_barriers.time_in(interval, now_);
    return is_before_publications
               ? std::max(counted_barriers.begin_of(interval), std::min(last, published_))
               : last;
  }

  [[nodiscard]] std::uint32_t alive() const { return alive_; }

  // Lanes of which nothing can be recorded: they do not exist, or left without any access. Saying
  // that they are known costs nothing and keeps clocks uniform.
  [[nodiscard]] std::uint32_t absent() const { return ~alive_ & ~touched_; }

  void touch(std::uint32_t lanes) { touched_ |= lanes; }

  void exit(std::uint32_t lanes);

  // Lanes that have exited wait for nothing. Lanes have states of their own only while some differ.
  [[nodiscard]] bool is_valid() const;

  [[nodiscard]] bool is_uniform() const { return split_ == nullptr; }

  [[nodiscard]] const ThreadState& state(std::uint32_t lane) const {
    DEBUG_ASSERT(lane < wire::kWarpLanes);
    return split_ == nullptr ? uniform_ : (*split_)[lane];
  }

  void set(std::uint32_t lanes, const ThreadState& state);

  // What lane `lane` would publish of a clock of its own that it took at its time `own`.
  [[nodiscard]] Clock with_own(const Clock& clock, std::uint32_t lanes, Time own) const;
  // What lane `lane` would publish of all it knows now.
  [[nodiscard]] Clock known_to(std::uint32_t lane) const;

  // Made on first use.
  [[nodiscard]] Completions& completions();

  // Null while it made no asynchronous copy.
  [[nodiscard]] const Completions* known_completions() const { return completions_.get(); }

  // Adds up to where `lanes` waited for their own copies.
  void add_waited(std::uint32_t lanes, std::vector<WarpTime>& times) const;
  // Puts into the clocks of `lanes` up to where they waited for their own copies.
  void join_completions(std::uint32_t lanes);
  // Whoever meets its threads next learns of the copies of theirs that the device had kept.
  void end_kept_copies();

  // Calls visit(lanes, state) for groups of lanes of `lanes` with the same state.
  template <typename Visit>
  void for_each_state(std::uint32_t lanes, Visit visit) const;
  // Replaces the state of each group by change(lanes, state).
  template <typename Change>
  void change(std::uint32_t lanes, Change change);

  // Call stacks, interned; 0 is the kernel itself.
  [[nodiscard]] std::uint32_t stack(std::uint32_t lane) const { return stacks_[lane]; }

  [[nodiscard]] bool has_one_stack() const { return one_stack_; }

  void set_stack(std::uint32_t lane, std::uint32_t stack);

  // Lanes whose last atomic wrote; the acquire record of the others is a plain strong read.
  std::uint32_t atomics_that_wrote = 0;
  std::uint32_t waiting = 0;    // at a CTA barrier
  std::uint32_t exit_site = 0;  // where lanes left last
  SyncNotes sync_notes;
  CountedBarriers counted_barriers;

  struct WarpBarrier {
    std::uint32_t members = 0;
    std::uint32_t waiting = 0;
  };

  std::vector<WarpBarrier> warp_barriers;  // that some but not all members have reached

 private:
  void merge_if_equal();

  CtaKey cta_;
  std::uint32_t warp_;
  std::uint32_t alive_;
  std::uint32_t touched_ = 0;
  static constexpr Time kNever = std::numeric_limits<Time>::max();

  Time now_ = 1;
  Time published_ = kNever;  // first in this interval of the block
  bool one_stack_ = true;
  ThreadState uniform_;
  std::unique_ptr<std::array<ThreadState, wire::kWarpLanes>> split_;
  std::array<std::uint32_t, wire::kWarpLanes> stacks_{};
  std::unique_ptr<Completions> completions_;
};

template <typename Visit>
void WarpState::for_each_state(std::uint32_t lanes, Visit visit) const {
  if (split_ == nullptr) {
    if (lanes != 0) {
      visit(lanes, uniform_);
    }
    return;
  }
  while (lanes != 0) {
    const ThreadState& first = (*split_)[first_lane(lanes)];
    std::uint32_t same = 0;
    for (const std::uint32_t lane : SetBits(lanes)) {
      same |= first.shares_all_with((*split_)[lane]) ? std::uint32_t{1} << lane : 0;
    }
    visit(same, first);
    lanes &= ~same;
  }
}

template <typename Change>
void WarpState::change(std::uint32_t lanes, Change change) {
  lanes &= alive_;
  if (split_ == nullptr) {
    if (lanes != 0) {
      set(lanes, change(lanes, uniform_));
    }
    return;
  }

  struct Group {
    std::uint32_t lanes = 0;
    ThreadState state;
  };

  std::array<Group, wire::kWarpLanes> groups;
  std::size_t count = 0;
  for_each_state(lanes, [&](std::uint32_t same, const ThreadState& state) {
    groups[count++] = Group{same, change(same, state)};
  });
  for (std::size_t index = 0; index < count; ++index) {
    set(groups[index].lanes, groups[index].state);
  }
}

}  // namespace barracuda::detector

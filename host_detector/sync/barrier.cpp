#include "host_detector/sync/barrier.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace barracuda::detector {

void Gathering::add(const WarpState& warp, std::uint32_t lanes, const Before& before) {
  cta_ = warp.cta();
  warp.for_each_state(lanes, [&](std::uint32_t group, const ThreadState& state) {
    const bool has_taken = before.state != nullptr && (group & before.took) != 0;
    if (!has_clock_ || !state.clock.shares_all_with(before.state->clock)) {
      clock_.join(state.clock);
    }
    has_clock_ = has_clock_ || has_taken;
    add_fences(warp, group, state, before);
    has_fences_ = has_fences_ || has_taken;
  });
  times_.push_back(
      {.slot = warp_slot(warp.warp()), .lanes = lanes | warp.absent(), .time = warp.now()});
  warp.add_waited(lanes, times_);
}

void Gathering::keep_apart_what_differs(const FenceState& fences) {
  for (std::size_t level = kLevelCount; level-- > 1;) {
    const Release& here = fences.released[level];
    const Release& below = fences.released[level - 1];
    if (!is_as_below_[level] || (here.exists == below.exists && here.own == below.own &&
                                 here.clock.shares_all_with(below.clock))) {
      continue;
    }
    std::size_t from = level - 1;
    while (is_as_below_[from]) {
      --from;
    }
    is_as_below_[level] = false;
    fences_.released[level] = fences_.released[from];
    fence_times_[level] = fence_times_[from];
  }
}

void Gathering::add_fences(const WarpState& warp, std::uint32_t lanes, const ThreadState& state,
                           const Before& before) {
  if (has_fences_ && state.fences == before.state->fences) {
    return;
  }
  if (is_first_) {
    shared_ = state.fences;
  } else if (shared_ != state.fences) {
    is_shared_ = false;
  }
  is_first_ = false;
  if (state.fences == nullptr) {
    return;
  }
  const FenceState& fences = *state.fences;
  if (!fences.left_pending.is_empty()) {
    fences_.left_pending.join(fences.left_pending);
  }
  keep_apart_what_differs(fences);
  for (std::size_t level = 0; level < kLevelCount; ++level) {
    const Release& release = fences.released[level];
    if (!fences_.pending[level].covers(fences.pending[level])) {
      fences_.pending[level].join(fences.pending[level]);
    }
    is_shared_ = is_shared_ && (!release.exists || release.own == 0);
    if (!release.exists || is_as_below_[level]) {
      continue;
    }
    fences_.released[level].exists = true;
    if (!has_released_[level] || !release.clock.shares_all_with(before.state->clock)) {
      fences_.released[level].clock.join(release.clock);
    }
    // A fence of its own came after all that the thread has taken at barriers.
    has_released_[level] = has_released_[level] || (release.own != 0 && before.state != nullptr &&
                                                    (lanes & before.took) != 0);
    if (release.own != 0) {
      fence_times_[level].push_back(
          {.slot = warp_slot(warp.warp()), .lanes = lanes | warp.absent(), .time = release.own});
    }
  }
}

ThreadState Gathering::take() {
  ThreadState all;
  all.clock = std::move(clock_);
  all.clock.raise(cta_, times_);
  if (is_shared_) {
    all.fences = shared_;
  } else {
    const boost::intrusive_ptr<FenceState> fences(new FenceState(std::move(fences_)));
    for (std::size_t level = 0; level < kLevelCount; ++level) {
      if (is_as_below_[level]) {
        fences->released[level] = fences->released[level - 1];
      } else if (!fence_times_[level].empty()) {
        fences->released[level].clock.raise(cta_, fence_times_[level]);
      }
    }
    all.fences = fences;
  }
  *this = Gathering();
  return all;
}

void Barrier::note(const WarpState& warp, std::uint32_t lanes, std::uint32_t threads,
                   std::uint32_t site) {
  Arrival& arrival = arrivals_[warp.warp()];
  arrival.site = arrival.lanes == 0 ? site : arrival.site;
  arrival.lanes |= lanes;
  threads_ = threads;
  on_exit(warp);
}

void Barrier::arrive(WarpState& warp, std::uint32_t lanes, std::uint32_t threads,
                     std::uint32_t site) {
  if ((arrivals_[warp.warp()].lanes & lanes) != 0) {
    early_.push_back({.warp = warp.warp(), .lanes = lanes, .threads = threads, .site = site});
    given_early_.add(warp, lanes);
  } else {
    note(warp, lanes, threads, site);
    given_.add(warp, lanes);
  }
  warp.advance();
}

void Barrier::arrive_and_wait(WarpState& warp, std::uint32_t lanes, std::uint32_t threads,
                              std::uint32_t site) {
  note(warp, lanes, threads, site);
  arrivals_[warp.warp()].waiting |= lanes;
  waiting_ += static_cast<std::uint64_t>(std::popcount(lanes));
  warp.waiting |= lanes;
}

void Barrier::on_exit(const WarpState& warp) {
  Arrival& arrival = arrivals_[warp.warp()];
  if (arrival.lanes != 0 && !arrival.is_full && (warp.alive() & ~arrival.lanes) == 0) {
    arrival.is_full = true;
    ++full_warps_;
  }
}

bool Barrier::is_complete(std::uint64_t live_threads) const {
  if (waiting_ == 0) {
    return false;
  }
  return threads_ == 0 ? waiting_ >= live_threads
                       : std::uint64_t{full_warps_} * wire::kWarpLanes >= threads_;
}

bool Barrier::has_everybody(std::span<const WarpState> warps) const {
  return std::ranges::all_of(warps, [&](const WarpState& warp) {
    return (arrivals_[warp.warp()].waiting | warp.absent()) == kAllLanes;
  });
}

void Barrier::open(std::span<WarpState> warps) {
  for (std::size_t warp = 0; warp < arrivals_.size(); ++warp) {
    if (arrivals_[warp].waiting != 0) {
      given_.add(warps[warp], arrivals_[warp].waiting,
                 {.state = &last_, .took = arrivals_[warp].took});
    }
  }
  const ThreadState all = given_.take();
  for (std::size_t warp = 0; warp < arrivals_.size(); ++warp) {
    if (arrivals_[warp].waiting != 0) {
      warps[warp].set(arrivals_[warp].waiting, all);
      warps[warp].advance();
      if ((arrivals_[warp].waiting | warps[warp].absent()) == kAllLanes) {
        warps[warp].begin_interval();
      }
      warps[warp].waiting &= ~arrivals_[warp].waiting;
    }
  }
  for (Arrival& arrival : arrivals_) {
    arrival = Arrival{.took = arrival.waiting};
  }
  last_ = all;
  waiting_ = 0;
  full_warps_ = 0;
  threads_ = 0;
  given_ = std::exchange(given_early_, {});
  for (const Early& early : std::exchange(early_, {})) {
    note(warps[early.warp], early.lanes, early.threads, early.site);
  }
}

}  // namespace barracuda::detector

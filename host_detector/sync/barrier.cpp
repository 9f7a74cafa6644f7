#include "host_detector/sync/barrier.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace barracuda::detector {

void Gathering::add(const WarpState& warp, std::uint32_t lanes) {
  cta_ = warp.cta();
  warp.for_each_state(lanes, [&](std::uint32_t group, const ThreadState& state) {
    clock_.join(state.clock);
    add_fences(warp, group, state);
  });
  ticks_.push_back({.warp = warp.warp(), .lanes = lanes | warp.absent(), .tick = warp.now()});
}

void Gathering::add_fences(const WarpState& warp, std::uint32_t lanes, const ThreadState& state) {
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
  fences_.left_pending = fences_.left_pending || fences.left_pending;
  for (std::size_t level = 0; level < kLevelCount; ++level) {
    const Release& release = fences.released[level];
    fences_.pending[level].join(fences.pending[level]);
    if (!release.exists) {
      continue;
    }
    fences_.released[level].exists = true;
    fences_.released[level].clock.join(release.clock);
    if (release.own != 0) {
      is_shared_ = false;
      fence_ticks_[level].push_back(
          {.warp = warp.warp(), .lanes = lanes | warp.absent(), .tick = release.own});
    }
  }
}

ThreadState Gathering::take() {
  ThreadState all;
  all.clock = std::move(clock_);
  all.clock.raise(cta_, ticks_);
  if (is_shared_) {
    all.fences = shared_;
  } else {
    const boost::intrusive_ptr<FenceState> fences(new FenceState(std::move(fences_)));
    for (std::size_t level = 0; level < kLevelCount; ++level) {
      Release& release = fences->released[level];
      if (!fence_ticks_[level].empty()) {
        release.clock.raise(cta_, fence_ticks_[level]);
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
  arrival.lanes |= lanes;
  arrival.site = site;
  threads_ = threads;
  on_exit(warp);
}

void Barrier::arrive(WarpState& warp, std::uint32_t lanes, std::uint32_t threads,
                     std::uint32_t site) {
  note(warp, lanes, threads, site);
  given_.add(warp, lanes);
  warp.tick();
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

void Barrier::open(std::span<WarpState> warps) {
  for (std::size_t warp = 0; warp < arrivals_.size(); ++warp) {
    if (arrivals_[warp].waiting != 0) {
      given_.add(warps[warp], arrivals_[warp].waiting);
    }
  }
  const ThreadState all = given_.take();
  for (std::size_t warp = 0; warp < arrivals_.size(); ++warp) {
    if (arrivals_[warp].waiting != 0) {
      warps[warp].set(arrivals_[warp].waiting, all);
      warps[warp].tick();
      warps[warp].waiting &= ~arrivals_[warp].waiting;
    }
  }
  std::ranges::fill(arrivals_, Arrival{});
  waiting_ = 0;
  full_warps_ = 0;
  threads_ = 0;
}

}  // namespace barracuda::detector

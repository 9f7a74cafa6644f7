#include "host_detector/sync/cluster_barrier.h"

#include <bit>

namespace barracuda::detector {
namespace {

bool covers(const FenceState& all, const FenceState& some) {
  for (std::size_t level = 0; level < kLevelCount; ++level) {
    const Release& release = some.released[level];
    if (release.exists && (release.own != 0 || !all.released[level].exists ||
                           !all.released[level].clock.covers(release.clock))) {
      return false;
    }
    if (!all.pending[level].covers(some.pending[level])) {
      return false;
    }
  }
  return true;
}

// `taken` has no own times: it went through a gathering.
FenceStatePointer joined(const FenceStatePointer& own, const FenceStatePointer& taken) {
  if (own == taken || taken == nullptr) {
    return own;
  }
  if (own == nullptr || covers(*taken, *own)) {
    return taken;
  }
  const boost::intrusive_ptr<FenceState> both(new FenceState(*own));
  both->left_pending.join(taken->left_pending);
  both->pending_from = {};
  for (std::size_t level = 0; level < kLevelCount; ++level) {
    both->released[level].exists = own->released[level].exists || taken->released[level].exists;
    both->released[level].clock.join(taken->released[level].clock);
    both->pending[level].join(taken->pending[level]);
  }
  return both;
}

ThreadState joined(const ThreadState& own, const ThreadState& taken) {
  ThreadState both = own;
  if (!both.clock.covers(taken.clock)) {
    both.clock.join(taken.clock);
  }
  both.fences = joined(own.fences, taken.fences);
  return both;
}

}  // namespace

void ClusterBarrier::arrive(WarpState& warp, std::uint32_t lanes, bool is_relaxed) {
  if (!is_relaxed) {
    given_[warp.cta()].add(warp, lanes);
  } else {
    for (const std::uint32_t lane : SetBits(lanes)) {
      const FenceStatePointer& fences = warp.state(lane).fences;
      if (fences != nullptr) {
        const Release& release = fences->released[index_of_level(ScopeLevel::kCluster)];
        if (release.exists) {
          fenced_.join(warp.with_own(release.clock, std::uint32_t{1} << lane, release.own));
        }
      }
    }
  }
  warp.advance();
  std::uint32_t& arrived = arrivals_[{warp.cta(), warp.warp()}];
  arrived_threads_ += static_cast<std::uint64_t>(std::popcount(lanes & ~arrived));
  arrived |= lanes;
  open_if_complete();
}

void ClusterBarrier::wait(WarpState& warp, std::uint32_t lanes) {
  const auto arrived = arrivals_.find({warp.cta(), warp.warp()});
  if (arrived != arrivals_.end() && (arrived->second & lanes) != 0) {
    open();  // it has opened, although not everybody's arrival or exit was seen
  }
  warp.change(lanes,
              [&](std::uint32_t, const ThreadState& before) { return joined(before, complete_); });
}

void ClusterBarrier::on_exit(const WarpState& warp, std::uint32_t lanes) {
  live_threads_ -= static_cast<std::uint64_t>(std::popcount(lanes));
  const auto arrived = arrivals_.find({warp.cta(), warp.warp()});
  if (arrived != arrivals_.end()) {
    arrived_threads_ -= static_cast<std::uint64_t>(std::popcount(lanes & arrived->second));
    arrived->second &= ~lanes;
  }
  open_if_complete();
}

void ClusterBarrier::open_if_complete() {
  if (arrived_threads_ != 0 && arrived_threads_ >= live_threads_) {
    open();
  }
}

void ClusterBarrier::open() {
  complete_ = ThreadState{};
  for (auto& [cta, given] : given_) {
    complete_ = joined(complete_, given.take());
  }
  complete_.clock.join(fenced_);
  given_.clear();
  fenced_ = Clock();
  arrivals_.clear();
  arrived_threads_ = 0;
}

}  // namespace barracuda::detector

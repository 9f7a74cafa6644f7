#include "emulator/state/cluster.h"

#include <algorithm>

#include "base/assert.h"
#include "emulator/state/mbarrier.h"
#include "emulator/state/weak_state.h"

namespace barracuda::emulator {

namespace {

std::size_t place_of(const Warp& warp, const Cta& cta) {
  return std::size_t{cta.rank} * cta.warps.size() + warp.index;
}

bool is_complete(const Cluster& cluster) {
  for (const auto& cta : cluster.ctas) {
    for (const auto& warp : cta->warps) {
      if ((warp->live & ~cluster.barrier.arrived[place_of(*warp, *cta)]) != 0) {
        return false;
      }
    }
  }
  return true;
}

void release(Cluster& cluster) {
  for (const auto& cta : cluster.ctas) {
    for (const auto& warp : cta->warps) {
      for (Fragment& fragment : warp->fragments) {
        if (fragment.state == FragmentState::kBarrier && fragment.barrier == kClusterBarrier) {
          fragment.state = FragmentState::kReady;
        }
      }
      if (cta->weak != nullptr) {
        cta->weak->reset_windows(*warp->weak, kFullMask);  // of who waits now and who will
      }
    }
  }
  std::ranges::fill(cluster.barrier.arrived, 0U);
  cluster.barrier.is_used = false;
}

}  // namespace

std::uint32_t Cluster::live_warps() const {
  std::uint32_t count = 0;
  for (const auto& cta : ctas) {
    count += cta->live_warps;
  }
  return count;
}

void arrive_at_cluster(const Warp& warp, Cta& cta, std::uint32_t mask) {
  ASSERT(cta.cluster != nullptr && cta.rank < cta.cluster->ctas.size());
  Cluster& cluster = *cta.cluster;
  cluster.barrier.arrived.resize(cluster.ctas.size() * cta.warps.size());
  DEBUG_ASSERT(mask != 0 && (mask & ~warp.live) == 0);
  cluster.barrier.is_used = true;
  cluster.barrier.arrived[place_of(warp, cta)] |= mask;
  if (is_complete(cluster)) {
    release(cluster);
  }
}

std::uint32_t waiting_for_cluster(const Warp& warp, const Cta& cta) {
  const Barrier& barrier = cta.cluster->barrier;
  return barrier.is_used ? barrier.arrived[place_of(warp, cta)] : 0;
}

void complete_cluster_after_exit(Cluster& cluster) {
  if (cluster.barrier.is_used && is_complete(cluster)) {
    release(cluster);
  }
}

void complete_transfers(Cluster& cluster, const std::uint64_t* mbarrier) {
  for (const auto& cta : cluster.ctas) {
    for (const auto& warp : cta->warps) {
      warp->copies.complete_for(mbarrier);
    }
  }
  std::vector<Transfer> left;
  for (const Transfer& transfer : cluster.transfers) {
    if (transfer.mbarrier != mbarrier) {
      left.push_back(transfer);
      continue;
    }
    transfer.movement.perform();
    change_mbarrier(transfer.mbarrier, {.transaction_bytes = -std::int64_t{transfer.signalled}});
  }
  cluster.transfers = std::move(left);
}

}  // namespace barracuda::emulator

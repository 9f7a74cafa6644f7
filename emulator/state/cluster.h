// A cluster in execution: its CTAs, which may reach each other's shared memory, their common
// barrier, and what is on its way to their mbarriers. Most clusters have one CTA. Only one worker
// has a cluster at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "emulator/state/address_windows.h"
#include "emulator/state/asynchronous.h"
#include "emulator/state/cta.h"

namespace barracuda::emulator {

// Shared addresses: from 0 the CTA's own, from (rank + 1) * kClusterShare those of the CTA of that
// rank, so that such an address means the same to every CTA of the cluster.
inline constexpr std::uint64_t kClusterShare = std::uint64_t{512} * 1024;
inline constexpr std::uint32_t kMaximumClusterBlocks = 16;
static_assert((kMaximumClusterBlocks + 1) * kClusterShare <= kWindowBytes,
              "the window of shared memory has room for every CTA's share");

struct Cluster {
  std::uint64_t number = 0;  // linear index in the grid's clusters
  Dim3 index;
  std::vector<std::unique_ptr<Cta>> ctas;  // by rank
  Barrier barrier;                         // `arrived` by rank and warp
  std::vector<Transfer> transfers;
  // Of memory, and of what is read, while its warps are watched; and how many there were before.
  std::uint64_t changes = 0, changes_before = 0;
  // For the schedule.
  bool is_observed = false;     // its warps are watched
  bool only_polls = false;      // in its last slice, which was watched
  std::uint32_t slices = 0;     // that it has had
  std::uint32_t next_look = 0;  // from this slice on they are watched again
  std::uint32_t looks = 0;      // slices in which they were watched and did more than poll
  std::uint32_t failures = 0;   // how often watching them came to nothing

  [[nodiscard]] std::uint32_t live_warps() const;
};

void arrive_at_cluster(const Warp& warp, Cta& cta, std::uint32_t mask);
// Lanes that have arrived and whose barrier is not complete.
std::uint32_t waiting_for_cluster(const Warp& warp, const Cta& cta);
// Opens the barrier if, once a warp has lost lanes, all others have arrived.
void complete_cluster_after_exit(Cluster& cluster);

// Moves what is on its way to that mbarrier, and signals it.
void complete_transfers(Cluster& cluster, const std::uint64_t* mbarrier);

}  // namespace barracuda::emulator

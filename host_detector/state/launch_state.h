// A launch that is running, and its CTAs, as far as their records have come. A CTA is made on its
// first record and goes with its last thread; its shared memory goes with it. Clusters may be
// handled by several threads, each by one at a time: what they share is behind functions.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>
#include <tbb/spin_mutex.h>

#include "host_detector/launches/launch_shape.h"
#include "host_detector/shadow/shadow_memory.h"
#include "host_detector/sync/barrier.h"
#include "host_detector/sync/cluster_barrier.h"
#include "host_detector/sync/mbarrier.h"
#include "host_detector/sync/sync_table.h"

namespace barracuda::detector {

struct LaunchState;

// A synchronising read that lanes of a warp made lately; explains races, see races/explanation.h.
struct WarpObservation {
  std::uint64_t tagged = 0;
  std::optional<std::uint64_t> value;
  wire::SiteId site{};
  std::uint32_t size = 0;
  std::uint32_t lanes = 0;
  Time time = 0;
  bool is_refusal = false;  // of a compare-and-swap that failed
};

// A barrier that all threads of a block came to together (wire::RecordKind::kBlockEvent).
struct BlockBarrier {
  wire::SiteId site{};
  std::uint32_t id = 0;  // of the barrier
};

// Where the last thread of a block left.
struct BlockEnd {
  wire::SiteId site{};
  std::uint8_t warp = 0, lane = 0;
};

struct CtaState {
  CtaState(LaunchState& of, std::uint32_t index);

  LaunchState& launch;
  std::uint32_t index;
  std::uint32_t cluster;
  CtaKey key;
  std::uint64_t live_threads;
  std::vector<WarpState> warps;
  std::map<std::uint32_t, Barrier> barriers;
  // The last one, while the block has done nothing since: what follows it with nothing between has
  // the same effect, so it is applied before whatever else the block does.
  std::optional<BlockBarrier> put_off;
  SharedShadow shared;
  SyncTable shared_locations;
  MbarrierTable mbarriers;
  std::vector<std::vector<WarpObservation>>
      observations;  // by warp, the newest last; empty without any
  // Of a cluster: what its threads knew when they left, and how the last one did.
  Clock known_at_end;
  std::optional<BlockEnd> end;

  void observe(std::uint32_t warp, const WarpObservation& observation);
};

struct LaunchState : LaunchShape {
  explicit LaunchState(const LaunchInfo& launch_info);

  bool ran_with_others = false;       // some other launch is not ordered before this one
  bool may_race_with_copies = false;  // nothing orders some live copy before it
  CopyId newest_copy{};               // of those that came before it began
  Clock initial;                      // what the launches before it had learnt of others
  Clock from_grid_wait;  // what else its threads know from griddepcontrol.wait on; empty
                         // unless it began before its prerequisite was over
  std::atomic<bool> lets_dependents_begin = false;
  // Accesses to what no device has. A kernel dies of them: of one that does not, the records were
  // malformed.
  std::atomic<std::uint64_t> astray = 0;

  // `earlier` let it begin before it was over.
  [[nodiscard]] bool runs_beside(LaunchId earlier) const {
    return earlier == info.prerequisite && !from_grid_wait.is_empty();
  }

  // The CTA, made if nothing of it came yet; null if it is over, or not of the grid.
  [[nodiscard]] CtaState* find_cta(std::uint32_t cta);
  // Null if nothing of it came yet, or it is over.
  [[nodiscard]] const CtaState* known_cta(std::uint32_t cta) const;
  // Whether nothing came yet of a CTA of the grid.
  [[nodiscard]] bool is_untouched(std::uint32_t cta) const;
  // What a warp of it synchronised by lately, also while another thread handles it; nothing as
  // above.
  [[nodiscard]] std::optional<SyncNotes> notes_of(std::uint32_t cta, std::uint32_t warp) const;
  // How a CTA of a cluster ended; nothing if it has not.
  [[nodiscard]] std::optional<BlockEnd> end_of(std::uint32_t cta) const;
  // The barrier of the cluster of `cta`.
  [[nodiscard]] ClusterBarrier& cluster_barrier(const CtaState& cta);
  // These threads have left `cta`, which is gone if they were its last. True if they were the
  // launch's last.
  bool exit(CtaState& cta, WarpState& warp, std::uint32_t lanes);
  // The same of a CTA that is untouched, and of all its threads.
  bool exit_untouched(std::uint32_t cta);
  // Counts `ctas` blocks that have done nothing as exited, while another block lives. False if
  // there are not so many.
  [[nodiscard]] bool exit_others(std::uint32_t ctas);
  // Some thread has learnt of other launches.
  void learn(const Clock& learnt);

  // What all threads have learnt of them. Nothing may be added any more.
  [[nodiscard]] Clock& final() { return final_; }

  template <typename Visit>
  void for_each_cta(Visit visit) const {
    for (const Shard& shard : shards_) {
      for (const auto& [index, cta] : shard.ctas) {
        visit(*cta);
      }
    }
  }

 private:
  using Lock = tbb::spin_mutex::scoped_lock;  // for very short, very often
  static constexpr std::uint32_t kShards = 16;
  static constexpr std::size_t kLineBytes = 64;

  // Every kShards-th CTA, so that threads that detect seldom meet.
  struct alignas(kLineBytes) Shard {
    mutable tbb::spin_mutex mutex;
    boost::unordered_flat_map<std::uint32_t, std::unique_ptr<CtaState>> ctas;
    std::vector<bool> finished;  // CTAs of which all threads have left, by cta / kShards
    boost::unordered_flat_map<std::uint32_t, BlockEnd> ends;  // of those that have one

    [[nodiscard]] CtaState* find(std::uint32_t cta) const {
      const auto known = ctas.find(cta);
      return known == ctas.end() ? nullptr : known->second.get();
    }

    [[nodiscard]] bool is_finished(std::uint32_t cta) const {
      return cta / kShards < finished.size() && finished[cta / kShards];
    }

    std::unique_ptr<CtaState> finish(std::uint32_t cta);
  };

  [[nodiscard]] Shard& shard_of(std::uint32_t cta) { return shards_[cta % kShards]; }

  [[nodiscard]] const Shard& shard_of(std::uint32_t cta) const { return shards_[cta % kShards]; }

  [[nodiscard]] std::uint64_t live_threads_of_cluster(std::uint32_t cta) const;
  void exit_cluster(const CtaState& cta, WarpState& warp, std::uint32_t lanes);

  std::array<Shard, kShards> shards_;
  std::atomic<std::uint64_t> live_ctas_;
  std::mutex cluster_mutex_;                                  // of what follows
  std::map<std::uint32_t, ClusterBarrier> cluster_barriers_;  // by cluster
  std::mutex final_mutex_;  // of what follows: clocks take long to join
  Clock final_;
};

}  // namespace barracuda::detector

// The rounds in which several threads detect (docs/decisions/detector-rounds.md): records are kept
// until there is enough to share out, then sorted by cluster, several rings at a time; each cluster
// is applied up to its next release or acquire of global memory, several clusters at a time; then
// these are, one after another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "host_detector/detector.h"
#include "host_detector/queue/open_work.h"
#include "host_detector/queue/parked_records.h"
#include "host_detector/queue/record_applier.h"
#include "host_detector/queue/ring_window.h"
#include "host_detector/queue/sharing.h"

namespace barracuda::detector {

class Rounds {
 public:
  // Rounds of less than `least_bytes` are left to one thread.
  Rounds(Detector& detector, OpenWork& work, ParkedRecords& parked, RecordApplier& applier,
         std::uint32_t threads, std::size_t least_bytes)
      : detector_(detector),
        work_(work),
        parked_(parked),
        applier_(applier),
        sharing_(threads, least_bytes, [&detector] { return detector.contentions(); }) {}

  // True if there is enough to share out.
  [[nodiscard]] bool keep(OrderCounters& counters, const void* ring, RecordBatch&& batch);

  [[nodiscard]] bool has_kept() const { return kept_bytes_ != 0; }

  // A round of what is kept, after which nothing is: the rest is parked.
  void apply_kept();
  // A round of the queues that can go on.
  void apply_ready();

  [[nodiscard]] Sharing::Time time() const { return sharing_.time(); }

 private:
  struct Tally;
  struct KeptCluster;

  RingWindow& window_of(OrderCounters& counters, const void* ring);
  std::vector<KeptCluster> sort_kept();
  template <typename Records>
  std::uint64_t apply_cluster(LaunchId launch, Records& records, Tally& tally) const;
  std::uint64_t apply_sorted(ClusterRecords& records, Tally& tally) const;
  void add_up(const Tally& tally);
  void add_over(const std::vector<LaunchId>& launches);
  void park_rest(OrderCounters& counters, ClusterRecords& records);
  void apply_boundary(ClusterQueue& queue);

  Detector& detector_;
  OpenWork& work_;
  ParkedRecords& parked_;
  RecordApplier& applier_;
  Sharing sharing_;
  boost::unordered_flat_map<const void*, std::unique_ptr<RingWindow>> windows_;  // by ring
  std::size_t kept_bytes_ = 0;                                                   // in these
};

}  // namespace barracuda::detector

// Puts records into an order that is consistent with synchronisation (RACE_RULES section 4) and
// applies them. Records of one queue come in slot order. An acquire from global memory waits until
// the releases with smaller numbers are applied, and its CTA (with its cluster) waits with it; a
// launch waits until the launches before it are over. With one thread everything else is applied at
// once. With more it is kept until there is enough to share out, and applied in rounds
// (docs/decisions/detector-rounds.md): sorted by cluster, several rings at a time; each cluster up
// to its next release or acquire of global memory, several clusters at a time; then these, one
// after another.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>

#include "host_detector/detector.h"
#include "host_detector/observer.h"
#include "host_detector/queue/cluster_queue.h"
#include "host_detector/queue/order_counters.h"
#include "host_detector/queue/ring_window.h"
#include "host_detector/queue/sharing.h"

namespace barracuda::detector {

struct OrderingOptions {
  Observer* observer = nullptr;  // none if null; it needs one thread
  std::uint32_t threads = 1;
  // A round of less is left to one thread: waking the others takes some microseconds.
  std::size_t least_shared_bytes = 256 * wire::kSlotBytes;
  std::chrono::milliseconds late_after{0};  // 0: no launch is
  std::function<std::chrono::steady_clock::time_point()> now = std::chrono::steady_clock::now;
};

class Ordering {
 public:
  explicit Ordering(Detector& detector, const OrderingOptions& options = {});
  ~Ordering();
  Ordering(const Ordering&) = delete;
  Ordering& operator=(const Ordering&) = delete;

  void begin_launch(const LaunchInfo& launch);
  // It is applied when the launches before it are over.
  void begin_copy(const CopyInfo& copy);
  // Whole records of the ring that `ring` names. `counters` are those of its device context and
  // outlive this.
  void take(OrderCounters& counters, const void* ring, RecordBatch&& batch);
  // Applies all that was taken and can be applied. With several threads it is done by itself every
  // so many bytes.
  void go_on();

  // Something that was taken waits for that.
  [[nodiscard]] bool has_kept() const { return kept_bytes_ != 0; }

  // Force-ends a launch: once the launches before it are over, applies what is parked of it as far
  // as possible, then counts it as over. Numbers that its threads took may never come.
  void end_launch(LaunchId launch);
  // Nothing more will come for now: if a launch was force-ended, gives up the numbers that it may
  // have taken, one at a time. True if something could go on.
  bool skip_hole(OrderCounters& counters);

  // The launches that are late now and were not before, the oldest first. To be called often: what
  // was taken since the last call is held to have come at the time of one of the two.
  [[nodiscard]] std::vector<LateLaunch> find_late(std::chrono::steady_clock::time_point now);

  // The launches that have ended since the last call.
  [[nodiscard]] std::vector<LaunchId> take_ended() { return std::exchange(ended_, {}); }

  [[nodiscard]] std::size_t parked_bytes() const { return parked_bytes_; }

  [[nodiscard]] std::uint64_t rejected() const { return rejected_; }

  // What is parked lies in the queues of launches, which await only what is not over.
  [[nodiscard]] bool is_valid() const;

  [[nodiscard]] Sharing::Time shared_time() const {
    return sharing_ == nullptr ? Sharing::Time{} : sharing_->time();
  }

 private:
  struct Launch;

  struct Tally;

  struct WaitingCopies {
    std::vector<WorkId> awaited, followers;
    std::vector<CopyInfo> copies;
  };

  void refuse(OrderCounters& counters, std::span<const std::byte> record);
  void take_one(OrderCounters& counters, std::span<const std::byte> record);
  void route(OrderCounters& counters, Launch& launch, std::uint32_t cta,
             std::span<const std::byte> record);
  // What the record must wait for first, of numbers_; null if it can be applied.
  [[nodiscard]] const OrderNumber* unreached(const OrderCounters& counters,
                                             std::span<const std::byte> record);
  void apply(OrderCounters& counters, LaunchId launch, std::span<const std::byte> record);
  void count_numbers(OrderCounters& counters, std::span<const std::byte> record);
  // False if the queue waits now; its front record does.
  bool apply_front(ClusterQueue& queue);
  void advance(ClusterQueue& queue);
  ClusterQueue* find_queue(Launch& launch, std::uint32_t cluster);
  ClusterQueue& make_queue(OrderCounters& counters, Launch& launch, std::uint32_t cluster);
  void drop(ClusterQueue& queue);
  void keep(OrderCounters& counters, const void* ring, RecordBatch&& batch);
  RingWindow& window_of(OrderCounters& counters, const void* ring);
  void apply_kept();
  std::uint64_t apply_sorted(ClusterRecords& records, Tally& tally) const;
  void keep_rest(OrderCounters& counters, ClusterRecords& records);
  void run_round();
  template <typename Records>
  std::uint64_t apply_cluster(LaunchId launch, Records& records, Tally& tally) const;
  void add_up(const Tally& tally);
  void add_over(const std::vector<LaunchId>& launches);
  void settle(ClusterQueue& queue);

  [[nodiscard]] bool has_work() const { return !ready_.empty() || !over_.empty(); }

  void on_launch_over(LaunchId launch);
  void on_copy_over(CopyId copy);
  void release(WorkId ended, const std::vector<WorkId>& followers);
  void follow(WorkId follower, const std::vector<WorkId>& awaited);
  void begin(Launch& launch);
  void end(Launch& launch);
  template <typename Id>
  [[nodiscard]] std::vector<WorkId> not_over(const std::vector<Id>& all);
  void apply_copy(const CopyInfo& copy);
  Launch* find(std::uint16_t low_bits);
  void turn_to(Launch* launch);

  Detector& detector_;
  const OrderingOptions options_;
  const std::unique_ptr<Sharing> sharing_;                                      // null: one thread
  boost::unordered_flat_map<std::uint16_t, std::unique_ptr<Launch>> launches_;  // not over
  std::map<CopyId, WaitingCopies> copies_;  // by the number that they share
  Launch* last_ = nullptr;                  // that was found, or none
  std::vector<std::unique_ptr<ClusterQueue>> spare_;
  // A queue of a launch that has begun is here or waits for a number.
  std::vector<ClusterQueue*> ready_;
  boost::unordered_flat_map<const void*, std::unique_ptr<RingWindow>> windows_;  // by ring
  std::size_t kept_bytes_ = 0;                                                   // in these
  std::uint64_t taken_ = 0;    // records, by one thread,
  std::uint64_t counted_ = 0;  // and those that are counted for their launches
  std::chrono::steady_clock::time_point now_, next_look_;
  std::vector<WorkId> over_;     // launches that have just ended
  std::vector<LaunchId> ended_;  // those whose end nobody has asked for yet
  bool is_going_on_ = false;
  bool may_have_holes_ = false;
  boost::unordered_flat_set<std::uint16_t> force_ended_;  // low bits of launches
  std::size_t parked_bytes_ = 0;
  std::uint64_t rejected_ = 0;
  WarpOperation operation_;
  OrderNumbers numbers_;
};

}  // namespace barracuda::detector

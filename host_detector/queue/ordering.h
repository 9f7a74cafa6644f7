// Puts records into an order that is consistent with synchronisation (RACE_RULES section 4) and
// applies them. Records of one queue come in slot order. An acquire from global memory waits until
// the releases with smaller numbers are applied, and its CTA (with its cluster) waits with it; a
// launch waits until the launches before it are over. With one thread everything else is applied at
// once; with more, in rounds (rounds.h).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "host_detector/detector.h"
#include "host_detector/observer.h"
#include "host_detector/queue/cluster_queue.h"
#include "host_detector/queue/open_work.h"
#include "host_detector/queue/order_counters.h"
#include "host_detector/queue/parked_records.h"
#include "host_detector/queue/record_applier.h"
#include "host_detector/queue/rounds.h"
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
  ~Ordering() = default;
  Ordering(const Ordering&) = delete;
  Ordering& operator=(const Ordering&) = delete;

  void begin_launch(const LaunchInfo& launch);
  // It is applied when the launches before it are over.
  void begin_copy(const CopyInfo& copy);
  // Whole records of the ring that `ring` names. `counters` are those of its device context and
  // outlive this.
  void take(OrderCounters& counters, const void* ring, RecordBatch&& batch);
  // Applies all that was taken and can be applied. With several threads this also happens whenever
  // enough bytes have been taken.
  void go_on();

  // Something that was taken waits for that.
  [[nodiscard]] bool has_kept() const { return rounds_ != nullptr && rounds_->has_kept(); }

  // Force-ends a launch: once the launches before it are over, applies what is parked of it as far
  // as possible, then counts it as over. Numbers that its threads took may never come.
  void end_launch(LaunchId launch);
  // Nothing more will come for now: if a launch was force-ended, gives up the numbers that it may
  // have taken, one at a time. True if something could go on.
  bool skip_hole(OrderCounters& counters);

  // The launches that are late now and were not before, the oldest first. To be called often: what
  // was taken since the last call is held to have come at the time of one of the two.
  [[nodiscard]] std::vector<LateLaunch> find_late(std::chrono::steady_clock::time_point now) {
    return work_.find_late(now, parked_.bytes());
  }

  // The launches that have ended since the last call.
  [[nodiscard]] std::vector<LaunchId> take_ended() { return std::exchange(ended_, {}); }

  [[nodiscard]] std::size_t parked_bytes() const { return parked_.bytes(); }

  [[nodiscard]] std::uint64_t rejected() const { return applier_.rejected(); }

  // What is parked lies in the queues of launches, which await only what is not over.
  [[nodiscard]] bool is_valid() const { return work_.is_valid(parked_.bytes()); }

  [[nodiscard]] Sharing::Time shared_time() const {
    return rounds_ == nullptr ? Sharing::Time{} : rounds_->time();
  }

 private:
  void take_one(OrderCounters& counters, std::span<const std::byte> record);
  void route(OrderCounters& counters, OpenLaunch& launch, std::uint32_t cta,
             std::span<const std::byte> record);
  void advance(ClusterQueue& queue);
  void close(WorkId work);
  // It awaits nothing any more.
  void go_on_with(WorkId work);
  void begin(OpenLaunch& launch);
  void force_end(OpenLaunch& launch);
  void apply_copy(const CopyInfo& copy);

  [[nodiscard]] bool has_work() { return !parked_.ready().empty() || work_.has_over(); }

  Detector& detector_;
  const OrderingOptions options_;
  OpenWork work_;
  ParkedRecords parked_;
  RecordApplier applier_;
  const std::unique_ptr<Rounds> rounds_;  // null: one thread
  std::vector<LaunchId> ended_;           // those whose end nobody has asked for yet
  bool is_going_on_ = false;
  bool may_have_holes_ = false;
};

}  // namespace barracuda::detector

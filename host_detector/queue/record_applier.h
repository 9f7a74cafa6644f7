// Applies one record at a time: decodes it, hands it to the detector, and lets those go on that
// waited for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "host_detector/detector.h"
#include "host_detector/observer.h"
#include "host_detector/queue/cluster_queue.h"
#include "host_detector/queue/decode.h"
#include "host_detector/queue/open_work.h"
#include "host_detector/queue/order_counters.h"
#include "host_detector/queue/parked_records.h"

namespace barracuda::detector {

class RecordApplier {
 public:
  // `observer` may be null.
  RecordApplier(Detector& detector, Observer* observer, OpenWork& work, ParkedRecords& parked)
      : detector_(detector), observer_(observer), work_(work), parked_(parked) {}

  // What the record must wait for first; null if it can be applied. It is there until the next
  // call.
  [[nodiscard]] const OrderNumber* unreached(const OrderCounters& counters,
                                             std::span<const std::byte> record);
  void apply(OrderCounters& counters, LaunchId launch, std::span<const std::byte> record);
  // False if the queue waits now; its front record does.
  [[nodiscard]] bool apply_front(ClusterQueue& queue);
  // The record's launch is not running.
  void refuse(OrderCounters& counters, std::span<const std::byte> record);

  void reject(std::uint64_t records) { rejected_ += records; }

  [[nodiscard]] std::uint64_t rejected() const { return rejected_; }

 private:
  void count_numbers(OrderCounters& counters, std::span<const std::byte> record);

  Detector& detector_;
  Observer* const observer_;
  OpenWork& work_;
  ParkedRecords& parked_;
  std::uint64_t rejected_ = 0;
  WarpOperation operation_;
  OrderNumbers numbers_;
};

}  // namespace barracuda::detector

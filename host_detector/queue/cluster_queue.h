// The records of one cluster (of one CTA where there are none) that are not applied yet, in slot
// order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/assert.h"
#include "host_detector/launch.h"
#include "host_detector/queue/ring_reader.h"

namespace barracuda::detector {

class OrderCounters;

class ClusterQueue {
 public:
  ClusterQueue(LaunchId launch, std::uint32_t cluster, OrderCounters& counters)
      : launch_(launch), cluster_(cluster), counters_(&counters) {}

  // An empty one becomes another's, and keeps its memory.
  void reuse(LaunchId launch, std::uint32_t cluster, OrderCounters& counters) {
    ASSERT(is_empty());
    launch_ = launch;
    cluster_ = cluster;
    counters_ = &counters;
    records_.bytes.clear();
    records_.slots.clear();
    next_ = next_byte_ = 0;
  }

  [[nodiscard]] std::size_t capacity() const { return records_.bytes.capacity(); }

  [[nodiscard]] LaunchId launch() const { return launch_; }

  [[nodiscard]] std::uint32_t cluster() const { return cluster_; }

  // Of the device context that the records came from.
  [[nodiscard]] OrderCounters& counters() const { return *counters_; }

  [[nodiscard]] bool is_empty() const { return next_ == records_.slots.size(); }

  [[nodiscard]] std::size_t bytes() const { return records_.bytes.size() - next_byte_; }

  // The next record is one of those that are there, and begins where it says.
  [[nodiscard]] bool is_valid() const {
    std::size_t popped = 0;
    for (std::size_t record = 0; record < next_ && record < records_.slots.size(); ++record) {
      popped += records_.slots[record] * wire::kSlotBytes;
    }
    return next_ <= records_.slots.size() && popped == next_byte_ && records_.is_valid();
  }

  void push(std::span<const std::byte> record) {
    DEBUG_ASSERT(!record.empty() && record.size() % wire::kSlotBytes == 0);
    records_.bytes.insert(records_.bytes.end(), record.begin(), record.end());
    records_.slots.push_back(static_cast<std::uint32_t>(record.size() / wire::kSlotBytes));
  }

  // Stays where it is until something is pushed.
  [[nodiscard]] std::span<const std::byte> front() const {
    DEBUG_ASSERT(!is_empty());
    return std::span(records_.bytes).subspan(next_byte_, records_.slots[next_] * wire::kSlotBytes);
  }

  void pop() {
    DEBUG_ASSERT(!is_empty());
    next_byte_ += records_.slots[next_] * wire::kSlotBytes;
    ++next_;
  }

  // Gives back the memory of what was popped, where it is worth it.
  void shrink();

 private:
  LaunchId launch_;
  std::uint32_t cluster_;
  OrderCounters* counters_;
  RecordBatch records_;
  std::size_t next_ = 0;  // record
  std::size_t next_byte_ = 0;
};

inline void ClusterQueue::shrink() {
  constexpr std::size_t kWorthwhile = 4096;  // records
  if (next_ < kWorthwhile || next_ * 2 < records_.slots.size()) {
    return;
  }
  records_.bytes.erase(records_.bytes.begin(),
                       records_.bytes.begin() + static_cast<std::ptrdiff_t>(next_byte_));
  records_.slots.erase(records_.slots.begin(),
                       records_.slots.begin() + static_cast<std::ptrdiff_t>(next_));
  next_ = next_byte_ = 0;
  DEBUG_ASSERT(is_valid());
}

}  // namespace barracuda::detector

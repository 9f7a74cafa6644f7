// The records that came from one ring since the last round, sorted by the clusters that they are
// of. A cluster logs to one ring only, so that several rings can be sorted at once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/assert.h"
#include "host_detector/queue/decode.h"
#include "host_detector/queue/ring_reader.h"

namespace barracuda::detector {

class OrderCounters;

// Those of one cluster, in slot order, from the front on.
class ClusterRecords {
 public:
  void reuse(std::uint16_t launch, std::uint32_t cluster) {
    launch_ = launch;
    cluster_ = cluster;
    records_.clear();
    next_ = 0;
  }

  [[nodiscard]] std::uint16_t launch() const { return launch_; }  // low bits of its id

  [[nodiscard]] std::uint32_t cluster() const { return cluster_; }

  void push(std::span<const std::byte> record) {
    DEBUG_ASSERT(next_ == 0);
    records_.push_back(record);
  }

  // With those that were popped.
  [[nodiscard]] std::size_t size() const { return records_.size(); }

  [[nodiscard]] bool is_empty() const { return next_ == records_.size(); }

  [[nodiscard]] std::span<const std::byte> front() const {
    DEBUG_ASSERT(!is_empty());
    return records_[next_];
  }

  void pop() {
    DEBUG_ASSERT(!is_empty());
    ++next_;
  }

 private:
  std::uint16_t launch_ = 0;
  std::uint32_t cluster_ = 0;
  std::vector<std::span<const std::byte>> records_;
  std::size_t next_ = 0;
};

class RingWindow {
 public:
  // Of the device context that the ring is of.
  void set_counters(OrderCounters& counters) { counters_ = &counters; }

  [[nodiscard]] OrderCounters& counters() const {
    ASSERT(counters_ != nullptr);
    return *counters_;
  }

  void add(RecordBatch&& batch) {
    DEBUG_ASSERT(batch.is_valid());
    batches_.push_back(std::move(batch));
  }

  // Each cluster has a place, and one only.
  [[nodiscard]] bool is_valid() const;

  // When all is added. cluster_of(low bits of a launch's id, CTA); the number of records.
  template <typename ClusterOf>
  std::uint64_t sort(ClusterOf cluster_of);

  [[nodiscard]] std::span<ClusterRecords> clusters() { return std::span(clusters_).first(used_); }

  void clear();

 private:
  static constexpr std::uint32_t kRecent = 256;

  // To be pushed to before any other.
  ClusterRecords& find_or_add(std::uint16_t launch, std::uint32_t cluster);

  OrderCounters* counters_ = nullptr;
  std::vector<RecordBatch> batches_;
  std::vector<ClusterRecords> clusters_;  // the first `used_` of them
  std::size_t used_ = 0;
  boost::unordered_flat_map<std::uint64_t, std::uint32_t> places_;  // in clusters_
  std::array<std::uint32_t, kRecent> recent_{};                     // of these, those found last
};

template <typename ClusterOf>
std::uint64_t RingWindow::sort(ClusterOf cluster_of) {
  std::uint64_t records = 0;
  ASSERT(used_ == 0);
  for (const RecordBatch& batch : batches_) {
    batch.for_each([&](std::span<const std::byte> record) {
      const RecordHeader header = header_of(record);
      find_or_add(header.launch, cluster_of(header.launch, header.cta)).push(record);
    });
    records += batch.slots.size();
  }
  DEBUG_ASSERT(is_valid());
  return records;
}

}  // namespace barracuda::detector

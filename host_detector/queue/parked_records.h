// The records that are not applied yet, in a queue for each cluster of a launch, and which of these
// queues can go on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/assert.h"
#include "host_detector/queue/cluster_queue.h"
#include "host_detector/queue/open_launch.h"
#include "host_detector/queue/order_counters.h"

namespace barracuda::detector {

class ParkedRecords {
 public:
  // Null if nothing of the cluster waits.
  [[nodiscard]] static ClusterQueue* find(OpenLaunch& launch, std::uint32_t cluster);
  // An empty one, to be pushed to.
  [[nodiscard]] ClusterQueue& make(OrderCounters& counters, OpenLaunch& launch,
                                   std::uint32_t cluster);
  // An empty one, which is no more.
  void drop(OpenLaunch& launch, ClusterQueue& queue);

  void push(ClusterQueue& queue, std::span<const std::byte> record) {
    queue.push(record);
    bytes_ += record.size();
  }

  // So much was popped from queues.
  void subtract(std::size_t bytes) {
    ASSERT(bytes_ >= bytes);
    bytes_ -= bytes;
  }

  [[nodiscard]] std::size_t bytes() const { return bytes_; }

  // All queues of a launch, with what is in them.
  void drop_all(OpenLaunch& launch);

  // A queue of a launch that has begun is here or waits for a number.
  [[nodiscard]] std::vector<ClusterQueue*>& ready() { return ready_; }

  // A launch begins: its queues can go on, the one that came first before the others.
  void begin(OpenLaunch& launch);

 private:
  std::vector<std::unique_ptr<ClusterQueue>> spare_;
  std::vector<ClusterQueue*> ready_;
  std::size_t bytes_ = 0;
};

}  // namespace barracuda::detector

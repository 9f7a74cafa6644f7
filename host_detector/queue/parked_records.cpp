#include "host_detector/queue/parked_records.h"

#include <utility>

namespace barracuda::detector {
namespace {

constexpr std::size_t kMostSpare = 4096;
constexpr std::size_t kMostSpareBytes = 16384;

}  // namespace

ClusterQueue* ParkedRecords::find(OpenLaunch& launch, std::uint32_t cluster) {
  if (launch.queues.empty()) {
    return nullptr;
  }
  ClusterQueue*& recent = launch.recent[cluster % OpenLaunch::kRecent];
  if (recent == nullptr || recent->cluster() != cluster) {
    const auto known = launch.queues.find(cluster);
    if (known == launch.queues.end()) {
      return nullptr;
    }
    recent = known->second.get();
  }
  return recent;
}

ClusterQueue& ParkedRecords::make(OrderCounters& counters, OpenLaunch& launch,
                                  std::uint32_t cluster) {
  std::unique_ptr<ClusterQueue> queue;
  if (spare_.empty()) {
    queue = std::make_unique<ClusterQueue>(launch.id(), cluster, counters);
  } else {
    queue = std::move(spare_.back());
    spare_.pop_back();
    queue->reuse(launch.id(), cluster, counters);
  }
  return *launch.queues.emplace(cluster, std::move(queue)).first->second;
}

void ParkedRecords::drop(OpenLaunch& launch, ClusterQueue& queue) {
  ClusterQueue*& recent = launch.recent[queue.cluster() % OpenLaunch::kRecent];
  recent = recent == &queue ? nullptr : recent;
  const auto place = launch.queues.find(queue.cluster());
  ASSERT(place != launch.queues.end() && place->second.get() == &queue && queue.is_empty());
  if (spare_.size() < kMostSpare && queue.capacity() <= kMostSpareBytes) {
    spare_.push_back(std::move(place->second));
  }
  launch.queues.erase(place);
}

void ParkedRecords::drop_all(OpenLaunch& launch) {
  for (const auto& [cluster, queue] : launch.queues) {
    queue->counters().forget(queue.get());
    std::erase(ready_, queue.get());
    subtract(queue->bytes());
  }
  launch.queues.clear();
  launch.early.clear();
  launch.recent.fill(nullptr);
}

void ParkedRecords::begin(OpenLaunch& launch) {
  ready_.insert(ready_.end(), launch.early.rbegin(), launch.early.rend());
  launch.early.clear();
}

}  // namespace barracuda::detector

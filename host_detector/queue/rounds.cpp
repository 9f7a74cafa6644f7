// The rounds in which several threads detect (ordering.h).
#include <algorithm>
#include <atomic>
#include <iterator>
#include <utility>

#include "base/assert.h"
#include "host_detector/queue/ordering.h"
#include "host_detector/queue/ordering_launch.h"

namespace barracuda::detector {
namespace {

constexpr std::size_t kMostKeptBytes = std::size_t{1} << 22;

void read_numbers(std::span<const std::byte> record, OrderNumbers& numbers) {
  const wire::RecordKind kind = kind_of(record);
  numbers.count = 0;
  if (kind == wire::RecordKind::kRelease || kind == wire::RecordKind::kAcquire) {
    read_order_numbers(record, numbers);
  }
}

}  // namespace

// What threads did in a round.
struct Ordering::Tally {
  std::atomic<std::uint64_t> applied{0}, refused{0}, malformed{0};
};

void Ordering::keep(OrderCounters& counters, const void* ring, RecordBatch&& batch) {
  kept_bytes_ += batch.bytes.size();
  window_of(counters, ring).add(std::move(batch));
  if (kept_bytes_ >= kMostKeptBytes) {
    go_on();
  }
}

RingWindow& Ordering::window_of(OrderCounters& counters, const void* ring) {
  std::unique_ptr<RingWindow>& window = windows_[ring];
  if (window == nullptr) {
    window = std::make_unique<RingWindow>();
  }
  window->set_counters(counters);
  return *window;
}

// Up to the first that concerns other clusters; how many that was.
template <typename Records>
std::uint64_t Ordering::apply_cluster(LaunchId launch, Records& records, Tally& tally) const {
  Detector::ClusterApplier applier(detector_, launch);
  WarpOperation operation;
  OrderNumbers numbers;
  std::uint64_t applied = 0;
  std::uint64_t refused = 0;
  std::uint64_t malformed = 0;
  for (; !records.is_empty(); records.pop()) {
    read_numbers(records.front(), numbers);
    if (numbers.count != 0) {
      break;
    }
    if (!decode(records.front(), operation)) {
      ++malformed;
      continue;
    }
    operation.launch = launch;
    const bool is_applied = applier.apply(operation);
    applied += is_applied ? 1 : 0;
    refused += is_applied ? 0 : 1;
  }
  tally.applied += applied;
  tally.refused += refused;
  tally.malformed += malformed;
  return applied + refused;
}

void Ordering::add_up(const Tally& tally) {
  detector_.count(tally.applied, tally.refused);
  rejected_ += tally.malformed;
}

void Ordering::add_over(const std::vector<LaunchId>& launches) {
  std::ranges::copy_if(launches, std::back_inserter(over_),
                       [&](LaunchId launch) { return detector_.launch_over(launch); });
}

// Nothing, if something of the cluster waits already.
std::uint64_t Ordering::apply_sorted(ClusterRecords& records, Tally& tally) const {
  const auto known = launches_.find(records.launch());
  if (known == launches_.end() || !known->second->awaited.empty() ||
      known->second->queues.contains(records.cluster())) {
    return 0;
  }
  return apply_cluster(known->second->shape.info.id, records, tally);
}

void Ordering::keep_rest(OrderCounters& counters, ClusterRecords& records) {
  if (records.is_empty()) {
    return;
  }
  Launch* const launch = find(records.launch());
  if (launch == nullptr) {
    for (; !records.is_empty(); records.pop()) {
      refuse(counters, records.front());
    }
    return;
  }
  ClusterQueue* queue = find_queue(*launch, records.cluster());
  if (queue == nullptr) {
    queue = &make_queue(counters, *launch, records.cluster());
    (launch->awaited.empty() ? ready_ : launch->early).push_back(queue);
  }
  for (; !records.is_empty(); records.pop()) {
    queue->push(records.front());
    parked_bytes_ += records.front().size();
  }
}

void Ordering::apply_kept() {
  ASSERT(sharing_ != nullptr);
  std::vector<RingWindow*> windows;
  for (const auto& [ring, window] : windows_) {
    windows.push_back(window.get());
  }
  sharing_->for_each_apart(windows.size(), kept_bytes_, [&](std::size_t index) {
    return windows[index]->sort([&](std::uint16_t launch, std::uint32_t cta) {
      const auto known = launches_.find(launch);
      return known == launches_.end() ? cta : known->second->shape.cluster_of(cta);
    });
  });
  std::vector<std::pair<ClusterRecords*, OrderCounters*>> clusters;
  std::vector<LaunchId> launches;
  for (RingWindow* const window : windows) {
    for (ClusterRecords& records : window->clusters()) {
      clusters.emplace_back(&records, &window->counters());
    }
  }
  std::ranges::sort(clusters, {}, [](const auto& each) {
    return std::pair(each.first->launch(), each.first->cluster());
  });
  Tally tally;
  sharing_->for_each(clusters.size(), kept_bytes_, [&](std::size_t index) {
    return apply_sorted(*clusters[index].first, tally);
  });
  add_up(tally);
  for (const auto& [records, counters] : clusters) {
    if (Launch* const launch = find(records->launch())) {
      launch->count(records->size(), now_);
      if (launches.empty() || launches.back() != launch->shape.info.id) {
        launches.push_back(launch->shape.info.id);
      }
    }
  }
  add_over(launches);
  for (const auto& [records, counters] : clusters) {
    keep_rest(*counters, *records);
  }
  // A ring that gave nothing may be gone.
  erase_if(windows_, [](const auto& each) { return each.second->clusters().empty(); });
  for (const auto& [ring, window] : windows_) {
    window->clear();
  }
  kept_bytes_ = 0;
}

// What is at the front concerns other clusters.
void Ordering::settle(ClusterQueue& queue) {
  while (!queue.is_empty()) {
    read_numbers(queue.front(), numbers_);
    if (numbers_.count == 0) {
      ready_.push_back(&queue);
      break;
    }
    if (!apply_front(queue)) {
      break;
    }
  }
  if (queue.is_empty()) {
    drop(queue);
  } else {
    queue.shrink();
  }
}

void Ordering::run_round() {
  const std::vector<ClusterQueue*> queues = std::exchange(ready_, {});
  std::size_t bytes = 0;
  std::vector<LaunchId> launches;
  for (const ClusterQueue* queue : queues) {
    bytes += queue->bytes();
    if (std::ranges::find(launches, queue->launch()) == launches.end()) {
      launches.push_back(queue->launch());
    }
  }
  Tally tally;
  sharing_->for_each(queues.size(), bytes, [&](std::size_t index) {
    return apply_cluster(queues[index]->launch(), *queues[index], tally);
  });
  add_up(tally);
  for (const ClusterQueue* queue : queues) {
    bytes -= queue->bytes();
  }
  ASSERT(parked_bytes_ >= bytes);
  parked_bytes_ -= bytes;
  for (ClusterQueue* queue : queues) {
    settle(*queue);
  }
  add_over(launches);
}

}  // namespace barracuda::detector

#include "host_detector/queue/rounds.h"

#include <algorithm>
#include <atomic>
#include <span>
#include <utility>

#include "host_detector/queue/decode.h"

namespace barracuda::detector {
namespace {

constexpr std::size_t kMostKeptBytes = std::size_t{1} << 22;

// Whether the record concerns other clusters.
bool has_order_numbers(std::span<const std::byte> record, OrderNumbers& numbers) {
  const wire::RecordKind kind = kind_of(record);
  if (kind != wire::RecordKind::kRelease && kind != wire::RecordKind::kAcquire) {
    return false;
  }
  read_order_numbers(record, numbers);
  return numbers.count != 0;
}

}  // namespace

// What threads did in a round.
struct Rounds::Tally {
  std::atomic<std::uint64_t> applied{0}, refused{0}, malformed{0};
};

struct Rounds::KeptCluster {
  ClusterRecords* records = nullptr;
  OrderCounters* counters = nullptr;
};

bool Rounds::keep(OrderCounters& counters, const void* ring, RecordBatch&& batch) {
  kept_bytes_ += batch.bytes.size();
  window_of(counters, ring).add(std::move(batch));
  return kept_bytes_ >= kMostKeptBytes;
}

RingWindow& Rounds::window_of(OrderCounters& counters, const void* ring) {
  std::unique_ptr<RingWindow>& window = windows_[ring];
  if (window == nullptr) {
    window = std::make_unique<RingWindow>();
  }
  window->set_counters(counters);
  return *window;
}

// Up to the first that concerns other clusters; how many that was.
template <typename Records>
std::uint64_t Rounds::apply_cluster(LaunchId launch, Records& records, Tally& tally) const {
  Detector::ClusterApplier applier(detector_, launch);
  WarpOperation operation;
  OrderNumbers numbers;
  std::uint64_t applied = 0;
  std::uint64_t refused = 0;
  std::uint64_t malformed = 0;
  for (; !records.is_empty(); records.pop()) {
    if (has_order_numbers(records.front(), numbers)) {
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

// Nothing, if something of the cluster waits already.
std::uint64_t Rounds::apply_sorted(ClusterRecords& records, Tally& tally) const {
  const OpenLaunch* const launch = work_.look_up(records.launch());
  if (launch == nullptr || !launch->awaited.empty() || launch->queues.contains(records.cluster())) {
    return 0;
  }
  return apply_cluster(launch->id(), records, tally);
}

void Rounds::add_up(const Tally& tally) {
  detector_.count(tally.applied, tally.refused);
  applier_.reject(tally.malformed);
}

void Rounds::add_over(const std::vector<LaunchId>& launches) {
  for (const LaunchId launch : launches) {
    if (detector_.launch_over(launch)) {
      work_.add_over(launch);
    }
  }
}

void Rounds::park_rest(OrderCounters& counters, ClusterRecords& records) {
  if (records.is_empty()) {
    return;
  }
  OpenLaunch* const launch = work_.find(records.launch());
  if (launch == nullptr) {
    for (; !records.is_empty(); records.pop()) {
      applier_.refuse(counters, records.front());
    }
    return;
  }
  ClusterQueue* queue = ParkedRecords::find(*launch, records.cluster());
  if (queue == nullptr) {
    queue = &parked_.make(counters, *launch, records.cluster());
    (launch->awaited.empty() ? parked_.ready() : launch->early).push_back(queue);
  }
  for (; !records.is_empty(); records.pop()) {
    parked_.push(*queue, records.front());
  }
}

std::vector<Rounds::KeptCluster> Rounds::sort_kept() {
  std::vector<RingWindow*> windows;
  for (const auto& [ring, window] : windows_) {
    windows.push_back(window.get());
  }
  sharing_.for_each_apart(windows.size(), kept_bytes_, [&](std::size_t index) {
    return windows[index]->sort([&](std::uint16_t low_bits, std::uint32_t cta) {
      const OpenLaunch* const launch = work_.look_up(low_bits);
      return launch == nullptr ? cta : launch->shape.cluster_of(cta);
    });
  });
  std::vector<KeptCluster> clusters;
  for (RingWindow* const window : windows) {
    for (ClusterRecords& records : window->clusters()) {
      clusters.push_back({.records = &records, .counters = &window->counters()});
    }
  }
  std::ranges::sort(clusters, {}, [](const KeptCluster& each) {
    return std::pair(each.records->launch(), each.records->cluster());
  });
  return clusters;
}

void Rounds::apply_kept() {
  const std::vector<KeptCluster> clusters = sort_kept();
  std::vector<LaunchId> launches;
  Tally tally;
  sharing_.for_each(clusters.size(), kept_bytes_, [&](std::size_t index) {
    return apply_sorted(*clusters[index].records, tally);
  });
  add_up(tally);
  for (const KeptCluster& cluster : clusters) {
    if (OpenLaunch* const launch = work_.find(cluster.records->launch())) {
      work_.count_records(*launch, cluster.records->size());
      if (launches.empty() || launches.back() != launch->id()) {
        launches.push_back(launch->id());
      }
    }
  }
  add_over(launches);
  for (const KeptCluster& cluster : clusters) {
    park_rest(*cluster.counters, *cluster.records);
  }
  // A ring that gave nothing may be gone.
  erase_if(windows_, [](const auto& each) { return each.second->clusters().empty(); });
  for (const auto& [ring, window] : windows_) {
    window->clear();
  }
  kept_bytes_ = 0;
}

// What is at the front concerns other clusters.
void Rounds::apply_boundary(ClusterQueue& queue) {
  OrderNumbers numbers;
  while (!queue.is_empty()) {
    if (!has_order_numbers(queue.front(), numbers)) {
      parked_.ready().push_back(&queue);
      break;
    }
    if (!applier_.apply_front(queue)) {
      break;
    }
  }
  if (!queue.is_empty()) {
    queue.shrink();
  } else if (OpenLaunch* const launch = work_.find(queue.launch())) {
    parked_.drop(*launch, queue);
  }
}

void Rounds::apply_ready() {
  const std::vector<ClusterQueue*> queues = std::exchange(parked_.ready(), {});
  std::size_t bytes = 0;
  std::vector<LaunchId> launches;
  for (const ClusterQueue* queue : queues) {
    bytes += queue->bytes();
    if (std::ranges::find(launches, queue->launch()) == launches.end()) {
      launches.push_back(queue->launch());
    }
  }
  Tally tally;
  sharing_.for_each(queues.size(), bytes, [&](std::size_t index) {
    return apply_cluster(queues[index]->launch(), *queues[index], tally);
  });
  add_up(tally);
  for (const ClusterQueue* queue : queues) {
    bytes -= queue->bytes();
  }
  parked_.subtract(bytes);
  for (ClusterQueue* queue : queues) {
    apply_boundary(*queue);
  }
  add_over(launches);
}

}  // namespace barracuda::detector

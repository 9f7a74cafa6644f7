#include "host_detector/queue/ordering.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <iterator>
#include <utility>

#include "host_detector/sync/launch_state.h"

namespace barracuda::detector {

namespace {

constexpr std::size_t kMostSpare = 4096;
constexpr std::size_t kMostSpareBytes = 16384;
constexpr std::size_t kMostKept = 131072;  // records

void read_numbers(std::span<const std::byte> record, OrderNumbers& numbers) {
  const wire::RecordKind kind = kind_of(record);
  numbers.count = 0;
  if (kind == wire::RecordKind::kRelease || kind == wire::RecordKind::kAcquire) {
    read_order_numbers(record, numbers);
  }
}

}  // namespace

struct Ordering::Launch {
  explicit Launch(const LaunchInfo& info) : shape(info) {}

  LaunchState shape;
  std::vector<LaunchId> awaited;  // launches before it that are not over
  bool ends_by_decree = false;    // once they are
  boost::unordered_flat_map<std::uint32_t, std::unique_ptr<ClusterQueue>> queues;  // none is empty
  static constexpr std::uint32_t kRecent = 256;
  std::array<ClusterQueue*, kRecent> recent{};  // of these, where they were found last
  std::vector<ClusterQueue*> early;  // all of them, in the order they came, while some are awaited
};

// What threads did in a round.
struct Ordering::Tally {
  std::atomic<std::uint64_t> applied{0}, refused{0}, malformed{0};
};

Ordering::Ordering(Detector& detector, const OrderingOptions& options)
    : detector_(detector),
      options_(options),
      sharing_(options.threads > 1
                   ? std::make_unique<Sharing>(options.threads, options.least_shared_bytes,
                                               [&detector] { return detector.contentions(); })
                   : nullptr) {}

Ordering::~Ordering() = default;

Ordering::Launch* Ordering::find(std::uint16_t low_bits) {
  if (last_ == nullptr || static_cast<std::uint16_t>(last_->shape.info.id) != low_bits) {
    const auto known = launches_.find(low_bits);
    last_ = known == launches_.end() ? nullptr : known->second.get();
  }
  return last_;
}

void Ordering::begin_launch(const LaunchInfo& info) {
  auto launch = std::make_unique<Launch>(info);
  launch->awaited = not_over(info.ordered_after);
  if (launch->awaited.empty()) {
    begin(*launch);
    if (detector_.launch_over(info.id)) {
      ended_.push_back(info.id);
      return;  // an empty grid
    }
  }
  last_ = nullptr;
  launches_.insert_or_assign(static_cast<std::uint16_t>(info.id), std::move(launch));
}

void Ordering::begin(Launch& launch) {
  if (options_.observer != nullptr) {
    options_.observer->launch_begun(launch.shape.info);
  }
  detector_.begin_launch(launch.shape.info);
}

std::vector<LaunchId> Ordering::not_over(const std::vector<LaunchId>& all) {
  std::vector<LaunchId> some;
  for (const LaunchId each : all) {
    const Launch* const launch = is_copy(each) ? nullptr : find(static_cast<std::uint16_t>(each));
    if (is_copy(each) ? copies_.contains(each)
                      : launch != nullptr && launch->shape.info.id == each) {
      some.push_back(each);
    }
  }
  return some;
}

void Ordering::begin_copy(const CopyInfo& copy) {
  if (const auto same = copies_.find(copy.id); same != copies_.end()) {
    same->second.copies.push_back(copy);
    return;
  }
  std::vector<LaunchId> awaited = not_over(copy.ordered_after);
  if (awaited.empty()) {
    apply_copy(copy);
    return;
  }
  copies_.emplace(copy.id, WaitingCopies{.awaited = std::move(awaited), .copies = {copy}});
}

void Ordering::apply_copy(const CopyInfo& copy) {
  if (options_.observer != nullptr) {
    options_.observer->copy_begun(copy);
  }
  detector_.apply_copy(copy);
}

void Ordering::on_copy_over(LaunchId id) {
  const auto known = copies_.find(id);
  for (const CopyInfo& copy : known->second.copies) {
    apply_copy(copy);
  }
  copies_.erase(known);
  release(id);
}

void Ordering::count_numbers(OrderCounters& counters, std::span<const std::byte> record) {
  if (kind_of(record) != wire::RecordKind::kRelease) {
    return;
  }
  read_order_numbers(record, numbers_);
  for (std::size_t index = 0; index < numbers_.count; ++index) {
    counters.applied(numbers_.of_lanes[index], ready_);
  }
}

void Ordering::apply(OrderCounters& counters, LaunchId launch, std::span<const std::byte> record) {
  if (options_.observer != nullptr) {
    options_.observer->record_applied(launch, record);
  }
  if (decode(record, operation_)) {
    operation_.launch = launch;
    detector_.apply(operation_);
  } else {
    ++rejected_;
  }
  count_numbers(counters, record);
  if (operation_.kind == wire::RecordKind::kEvent && detector_.launch_over(launch)) {
    over_.push_back(launch);
  }
}

const OrderNumber* Ordering::unreached(const OrderCounters& counters,
                                       std::span<const std::byte> record) {
  if (kind_of(record) == wire::RecordKind::kAcquire) {
    read_order_numbers(record, numbers_);
    for (std::size_t index = 0; index < numbers_.count; ++index) {
      if (!counters.has_reached(numbers_.of_lanes[index])) {
        return &numbers_.of_lanes[index];
      }
    }
  }
  return nullptr;
}

ClusterQueue* Ordering::find_queue(Launch& launch, std::uint32_t cluster) {
  if (launch.queues.empty()) {
    return nullptr;
  }
  ClusterQueue*& recent = launch.recent[cluster % Launch::kRecent];
  if (recent == nullptr || recent->cluster() != cluster) {
    const auto known = launch.queues.find(cluster);
    if (known == launch.queues.end()) {
      return nullptr;
    }
    recent = known->second.get();
  }
  return recent;
}

ClusterQueue& Ordering::make_queue(OrderCounters& counters, Launch& launch, std::uint32_t cluster) {
  const LaunchId id = launch.shape.info.id;
  std::unique_ptr<ClusterQueue> queue;
  if (spare_.empty()) {
    queue = std::make_unique<ClusterQueue>(id, cluster, counters);
  } else {
    queue = std::move(spare_.back());
    spare_.pop_back();
    queue->reuse(id, cluster, counters);
  }
  return *launch.queues.emplace(cluster, std::move(queue)).first->second;
}

void Ordering::drop(ClusterQueue& queue) {
  Launch* launch = find(static_cast<std::uint16_t>(queue.launch()));
  if (launch == nullptr) {
    return;
  }
  ClusterQueue*& recent = launch->recent[queue.cluster() % Launch::kRecent];
  recent = recent == &queue ? nullptr : recent;
  const auto place = launch->queues.find(queue.cluster());
  if (spare_.size() < kMostSpare && queue.capacity() <= kMostSpareBytes) {
    spare_.push_back(std::move(place->second));
  }
  launch->queues.erase(place);
}

void Ordering::route(OrderCounters& counters, Launch& launch, std::uint32_t cta,
                     std::span<const std::byte> record) {
  const std::uint32_t cluster = launch.shape.cluster_of(cta);
  ClusterQueue* queue = find_queue(launch, cluster);
  if (queue == nullptr) {
    if (!launch.awaited.empty()) {
      queue = &make_queue(counters, launch, cluster);
      launch.early.push_back(queue);
    } else if (const OrderNumber* const number = unreached(counters, record)) {
      queue = &make_queue(counters, launch, cluster);
      counters.wait(*number, queue);
    } else {
      apply(counters, launch.shape.info.id, record);
      return;
    }
  }
  queue->push(record);
  parked_bytes_ += record.size();
}

void Ordering::take_one(OrderCounters& counters, std::span<const std::byte> record) {
  const RecordHeader header = header_of(record);
  if (header.kind == wire::RecordKind::kVoid) {
    return;
  }
  Launch* launch = find(header.launch);
  if (launch == nullptr) {
    ++rejected_;
    count_numbers(counters, record);
  } else {
    route(counters, *launch, header.cta, record);
  }
  if (has_work()) {
    go_on();
  }
}

void Ordering::take(OrderCounters& counters, const void* ring, RecordBatch&& batch) {
  if (sharing_ != nullptr) {
    kept_ += batch.slots.size();
    kept_bytes_ += batch.bytes.size();
    window_of(counters, ring).add(std::move(batch));
    if (kept_ >= kMostKept) {
      go_on();
    }
    return;
  }
  std::span<const std::byte> rest(batch.bytes);
  for (const std::uint32_t slots : batch.slots) {
    take_one(counters, rest.first(slots * wire::kSlotBytes));
    rest = rest.subspan(slots * wire::kSlotBytes);
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

bool Ordering::apply_front(ClusterQueue& queue) {
  if (const OrderNumber* const number = unreached(queue.counters(), queue.front())) {
    queue.counters().wait(*number, &queue);
    return false;
  }
  parked_bytes_ -= queue.front().size();
  apply(queue.counters(), queue.launch(), queue.front());
  queue.pop();
  return true;
}

void Ordering::advance(ClusterQueue& queue) {
  while (!queue.is_empty()) {
    if (!apply_front(queue)) {
      queue.shrink();
      return;
    }
  }
  drop(queue);
}

// Up to the first that concerns other clusters; how many that was.
template <typename Records>
std::uint64_t Ordering::apply_strand(LaunchId launch, Records& records, Tally& tally) const {
  Detector::Strand strand(detector_, launch);
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
    const bool is_applied = strand.apply(operation);
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
  return apply_strand(known->second->shape.info.id, records, tally);
}

void Ordering::keep_rest(OrderCounters& counters, ClusterRecords& records) {
  Launch* const launch = find(records.launch());
  if (records.is_empty()) {
    return;
  }
  if (launch == nullptr) {
    for (; !records.is_empty(); records.pop()) {
      ++rejected_;
      count_numbers(counters, records.front());
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
  for (std::size_t index = 0; index < clusters.size(); ++index) {
    const std::uint16_t launch = clusters[index].first->launch();
    if (index == 0 || clusters[index - 1].first->launch() != launch) {
      if (const Launch* const known = find(launch)) {
        launches.push_back(known->shape.info.id);
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
  kept_ = kept_bytes_ = 0;
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
    return apply_strand(queues[index]->launch(), *queues[index], tally);
  });
  add_up(tally);
  for (const ClusterQueue* queue : queues) {
    bytes -= queue->bytes();
  }
  parked_bytes_ -= bytes;
  for (ClusterQueue* queue : queues) {
    settle(*queue);
  }
  add_over(launches);
}

void Ordering::on_launch_over(LaunchId id) {
  Launch* ended = find(static_cast<std::uint16_t>(id));
  if (ended == nullptr || ended->shape.info.id != id) {
    return;
  }
  for (const auto& [cluster, queue] : ended->queues) {
    queue->counters().forget(queue.get());
    std::erase(ready_, queue.get());
    parked_bytes_ -= queue->bytes();
  }
  last_ = nullptr;
  launches_.erase(static_cast<std::uint16_t>(id));
  release(id);
}

// What awaited only this one goes on.
void Ordering::release(LaunchId id) {
  for (auto& [copy, waiting] : copies_) {
    if (std::erase(waiting.awaited, id) != 0 && waiting.awaited.empty()) {
      over_.push_back(copy);
    }
  }
  for (auto& [low, launch] : launches_) {
    if (std::erase(launch->awaited, id) != 0 && launch->awaited.empty()) {
      begin(*launch);
      if (launch->ends_by_decree) {
        end(*launch);
        continue;
      }
      if (detector_.launch_over(launch->shape.info.id)) {
        over_.push_back(launch->shape.info.id);
      }
      // The last that came is advanced first.
      ready_.insert(ready_.end(), launch->early.rbegin(), launch->early.rend());
      launch->early.clear();
    }
  }
}

// A launch that ends lets others start and a release lets clusters go on, either may do the other:
// not by recursion, which would be as deep as the program is long.
void Ordering::go_on() {
  if (is_going_on_) {
    return;
  }
  is_going_on_ = true;
  if (kept_ != 0) {
    apply_kept();
  }
  while (has_work()) {
    if (!over_.empty()) {
      const LaunchId id = over_.back();
      over_.pop_back();
      if (is_copy(id)) {
        on_copy_over(id);
        continue;
      }
      ended_.push_back(id);
      on_launch_over(id);
    } else if (sharing_ != nullptr) {
      run_round();
    } else {
      ClusterQueue& queue = *ready_.back();
      ready_.pop_back();
      advance(queue);
    }
  }
  is_going_on_ = false;
}

void Ordering::end_launch(LaunchId id) {
  go_on();
  Launch* launch = find(static_cast<std::uint16_t>(id));
  if (launch == nullptr || launch->shape.info.id != id) {
    return;
  }
  if (!launch->awaited.empty()) {
    launch->ends_by_decree = true;  // what comes after it comes after these as well
    return;
  }
  end(*launch);
  go_on();
}

void Ordering::end(Launch& launch) {
  const LaunchId id = launch.shape.info.id;
  may_have_holes_ = true;
  const auto queues = std::exchange(launch.queues, {});
  launch.early.clear();
  launch.recent.fill(nullptr);
  for (const auto& [cluster, queue] : queues) {
    queue->counters().forget(queue.get());
    std::erase(ready_, queue.get());
    for (; !queue->is_empty(); queue->pop()) {
      parked_bytes_ -= queue->front().size();
      apply(queue->counters(), id, queue->front());
    }
  }
  if (options_.observer != nullptr) {
    options_.observer->launch_ended(id);
  }
  detector_.end_launch(id);
  over_.push_back(id);
}

bool Ordering::skip_hole(OrderCounters& counters) {
  if (!may_have_holes_ || parked_bytes_ == 0) {
    return false;
  }
  counters.skip_hole(ready_);
  const bool can_go_on = !ready_.empty();
  go_on();
  return can_go_on;
}

}  // namespace barracuda::detector

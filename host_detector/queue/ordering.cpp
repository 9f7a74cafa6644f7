#include "host_detector/queue/ordering.h"

#include <algorithm>
#include <utility>

#include "host_detector/queue/ordering_launch.h"

namespace barracuda::detector {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kMostSpare = 4096;
constexpr std::size_t kMostSpareBytes = 16384;
constexpr std::chrono::milliseconds kLookEvery{1000};

}  // namespace

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
    turn_to(known == launches_.end() ? nullptr : known->second.get());
  }
  return last_;
}

// Records mostly come many in a row from one launch, and are counted for it when another's come.
void Ordering::turn_to(Launch* launch) {
  if (last_ != nullptr && counted_ != taken_) {
    last_->count(taken_ - counted_, now_);
  }
  counted_ = taken_;
  last_ = launch;
}

std::vector<LateLaunch> Ordering::find_late(SteadyClock::time_point now) {
  std::vector<LateLaunch> found;
  now_ = now;
  turn_to(last_);
  if (options_.late_after == std::chrono::milliseconds{0} || now < next_look_) {
    return found;
  }
  next_look_ = now + std::min(options_.late_after / 8, kLookEvery);
  for (const auto& [low, launch] : launches_) {
    if (launch->is_late || !launch->awaited.empty() || now - launch->begun < options_.late_after) {
      continue;
    }
    launch->is_late = true;
    LateLaunch& late = found.emplace_back();
    late.id = launch->shape.info.id;
    late.records = launch->records;
    late.since_last = std::chrono::duration_cast<std::chrono::milliseconds>(
        now - (late.records == 0 ? launch->begun : launch->newest));
    late.waiting_bytes = parked_bytes_;
  }
  std::ranges::sort(found, {}, &LateLaunch::id);
  return found;
}

void Ordering::begin_launch(const LaunchInfo& info) {
  ended_by_decree_.erase(static_cast<std::uint16_t>(info.id));
  auto launch = std::make_unique<Launch>(info);
  launch->awaited = not_over(info.ordered_after);
  if (launch->awaited.empty()) {
    begin(*launch);
    if (detector_.launch_over(info.id)) {
      ended_.push_back(info.id);
      return;  // an empty grid
    }
  }
  turn_to(nullptr);
  launches_.insert_or_assign(static_cast<std::uint16_t>(info.id), std::move(launch));
}

void Ordering::begin(Launch& launch) {
  launch.begun = SteadyClock::now();
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

// Of no launch that runs. What ended by decree may log on, and its end was reported.
void Ordering::refuse(OrderCounters& counters, std::span<const std::byte> record) {
  rejected_ += ended_by_decree_.contains(header_of(record).launch) ? 0 : 1;
  count_numbers(counters, record);
}

void Ordering::take_one(OrderCounters& counters, std::span<const std::byte> record) {
  const RecordHeader header = header_of(record);
  if (header.kind == wire::RecordKind::kVoid) {
    return;
  }
  Launch* launch = find(header.launch);
  if (launch == nullptr) {
    refuse(counters, record);
  } else {
    route(counters, *launch, header.cta, record);
  }
  ++taken_;
  if (has_work()) {
    go_on();
  }
}

void Ordering::take(OrderCounters& counters, const void* ring, RecordBatch&& batch) {
  if (sharing_ != nullptr) {
    keep(counters, ring, std::move(batch));
    return;
  }
  batch.for_each([&](std::span<const std::byte> record) { take_one(counters, record); });
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
  turn_to(nullptr);
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
  if (has_kept()) {
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
  ended_by_decree_.insert(static_cast<std::uint16_t>(id));
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

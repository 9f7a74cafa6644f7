#include "host_detector/queue/ordering.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
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

bool Ordering::is_valid() const {
  std::size_t parked = 0;
  const auto is_awaited = [this](WorkId each) {
    return each.is_copy() ? copies_.contains(each.copy())
                          : launches_.contains(static_cast<std::uint16_t>(each.launch()));
  };
  for (const auto& [low, launch] : launches_) {
    for (const auto& [cluster, queue] : launch->queues) {
      parked += queue->bytes();
      if (queue->is_empty() || queue->cluster() != cluster || !queue->is_valid() ||
          queue->launch() != launch->shape.info.id) {
        return false;
      }
    }
    if (static_cast<std::uint16_t>(launch->shape.info.id) != low ||
        (launch->awaited.empty() && !launch->early.empty()) ||
        !std::ranges::all_of(launch->awaited, is_awaited)) {
      return false;
    }
  }
  return parked == parked_bytes_;
}

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
  force_ended_.erase(static_cast<std::uint16_t>(info.id));
  auto launch = std::make_unique<Launch>(info);
  launch->awaited = not_over(info.ordered_after);
  if (launch->awaited.empty()) {
    begin(*launch);
    if (detector_.launch_over(info.id)) {
      ended_.push_back(info.id);
      return;  // an empty grid
    }
  }
  follow(info.id, launch->awaited);
  turn_to(nullptr);
  launches_.insert_or_assign(static_cast<std::uint16_t>(info.id), std::move(launch));
}

// A program may have thousands of launches waiting: who ends must not look at all of them.
void Ordering::follow(WorkId follower, const std::vector<WorkId>& awaited) {
  for (const WorkId each : awaited) {
    if (each.is_copy()) {
      copies_.at(each.copy()).followers.push_back(follower);
      continue;
    }
    Launch* const launch = find(static_cast<std::uint16_t>(each.launch()));
    ASSERT(launch != nullptr && launch->shape.info.id == each);
    launch->followers.push_back(follower);
  }
}

void Ordering::begin(Launch& launch) {
  launch.begun = options_.now();
  if (options_.observer != nullptr) {
    options_.observer->launch_begun(launch.shape.info);
  }
  detector_.begin_launch(launch.shape.info);
}

template <typename Id>
std::vector<WorkId> Ordering::not_over(const std::vector<Id>& all) {
  std::vector<WorkId> some;
  for (const WorkId each : all) {
    const Launch* const launch =
        each.is_copy() ? nullptr : find(static_cast<std::uint16_t>(each.launch()));
    if (each.is_copy() ? copies_.contains(each.copy())
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
  std::vector<WorkId> awaited = not_over(copy.ordered_after);
  for (const WorkId free : not_over(copy.freed_by)) {
    if (std::ranges::find(awaited, free) == awaited.end()) {
      awaited.push_back(free);
    }
  }
  if (awaited.empty()) {
    apply_copy(copy);
    return;
  }
  follow(copy.id, awaited);
  copies_.emplace(copy.id,
                  WaitingCopies{.awaited = std::move(awaited), .followers = {}, .copies = {copy}});
}

void Ordering::apply_copy(const CopyInfo& copy) {
  if (options_.observer != nullptr) {
    options_.observer->copy_begun(copy);
  }
  detector_.apply_copy(copy);
}

void Ordering::on_copy_over(CopyId id) {
  const auto known = copies_.find(id);
  ASSERT(known != copies_.end() && known->second.awaited.empty());
  for (const CopyInfo& copy : known->second.copies) {
    apply_copy(copy);
  }
  const std::vector<WorkId> followers = std::move(known->second.followers);
  copies_.erase(known);
  release(id, followers);
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
  ASSERT(place != launch->queues.end() && place->second.get() == &queue);
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

// The record's launch is not running. A force-ended launch may go on logging; its end was already
// reported, so that is no error.
void Ordering::refuse(OrderCounters& counters, std::span<const std::byte> record) {
  rejected_ += force_ended_.contains(header_of(record).launch) ? 0 : 1;
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
  DEBUG_ASSERT(parked_bytes_ >= queue.front().size());
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
    ASSERT(parked_bytes_ >= queue->bytes());
    parked_bytes_ -= queue->bytes();
  }
  const std::vector<WorkId> followers = std::move(ended->followers);
  turn_to(nullptr);
  launches_.erase(static_cast<std::uint16_t>(id));
  release(id, followers);
}

// What awaited only this one goes on.
void Ordering::release(WorkId id, const std::vector<WorkId>& followers) {
  for (const WorkId follower : followers) {
    if (follower.is_copy()) {
      std::vector<WorkId>& awaited = copies_.at(follower.copy()).awaited;
      std::erase(awaited, id);
      if (awaited.empty()) {
        over_.push_back(follower);
      }
      continue;
    }
    Launch* const launch = find(static_cast<std::uint16_t>(follower.launch()));
    ASSERT(launch != nullptr);
    std::erase(launch->awaited, id);
    if (!launch->awaited.empty()) {
      continue;
    }
    begin(*launch);
    if (launch->is_force_ended) {
      end(*launch);
      continue;
    }
    if (detector_.launch_over(follower.launch())) {
      over_.push_back(follower);
    }
    // The last that came is advanced first.
    ready_.insert(ready_.end(), launch->early.rbegin(), launch->early.rend());
    launch->early.clear();
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
      const WorkId id = over_.back();
      over_.pop_back();
      if (id.is_copy()) {
        on_copy_over(id.copy());
        continue;
      }
      ended_.push_back(id.launch());
      on_launch_over(id.launch());
    } else if (sharing_ != nullptr) {
      run_round();
    } else {
      ClusterQueue& queue = *ready_.back();
      ready_.pop_back();
      advance(queue);
    }
  }
  is_going_on_ = false;
  ASSERT(kept_bytes_ == 0);
  DEBUG_ASSERT(is_valid());
}

void Ordering::end_launch(LaunchId id) {
  go_on();
  Launch* launch = find(static_cast<std::uint16_t>(id));
  if (launch == nullptr || launch->shape.info.id != id) {
    return;
  }
  if (!launch->awaited.empty()) {
    launch->is_force_ended = true;  // what comes after it comes after these as well
    return;
  }
  end(*launch);
  go_on();
}

void Ordering::end(Launch& launch) {
  const LaunchId id = launch.shape.info.id;
  ASSERT(launch.awaited.empty());
  may_have_holes_ = true;
  force_ended_.insert(static_cast<std::uint16_t>(id));
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

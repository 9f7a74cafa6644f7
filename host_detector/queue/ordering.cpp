#include "host_detector/queue/ordering.h"

#include <algorithm>
#include <utility>

#include "host_detector/sync/launch_state.h"

namespace barracuda::detector {

// The records of one cluster (of one CTA where there are none) that wait for their turn.
class ParkedGroup {
 public:
  LaunchId launch{};
  std::uint32_t cluster = 0;
  OrderCounters* counters = nullptr;
  std::deque<RecordBytes> records;
};

struct Ordering::Launch {
  explicit Launch(const LaunchInfo& info) : shape(info) {}

  LaunchState shape;
  std::vector<LaunchId> awaited;  // launches before it that are not over

  struct Early {
    OrderCounters* counters = nullptr;
    RecordBytes record;
  };

  std::deque<Early> early;  // came while some are awaited
  boost::unordered_flat_map<std::uint32_t, std::unique_ptr<ParkedGroup>> parked;  // by cluster
};

Ordering::Ordering(Detector& detector, Observer* observer)
    : detector_(detector), observer_(observer) {}

Ordering::~Ordering() = default;

Ordering::Launch* Ordering::find(std::uint16_t low_bits) {
  const auto known = launches_.find(low_bits);
  return known == launches_.end() ? nullptr : known->second.get();
}

void Ordering::begin_launch(const LaunchInfo& info) {
  if (observer_ != nullptr) {
    observer_->launch_begun(info);
  }
  detector_.begin_launch(info);
  if (detector_.launch_over(info.id)) {
    ended_.push_back(info.id);
    return;  // an empty grid
  }
  auto launch = std::make_unique<Launch>(info);
  for (const LaunchId before : info.ordered_after) {
    const Launch* other = find(static_cast<std::uint16_t>(before));
    if (other != nullptr && other->shape.info.id == before) {
      launch->awaited.push_back(before);
    }
  }
  launches_.insert_or_assign(static_cast<std::uint16_t>(info.id), std::move(launch));
}

void Ordering::count_numbers(OrderCounters& counters, std::span<const std::byte> record) {
  if (header_of(record).kind != wire::RecordKind::kRelease) {
    return;
  }
  read_order_numbers(record, numbers_);
  for (std::size_t index = 0; index < numbers_.count; ++index) {
    counters.applied(numbers_.of_lanes[index], ready_);
  }
}

void Ordering::apply(OrderCounters& counters, LaunchId launch, std::span<const std::byte> record) {
  if (observer_ != nullptr) {
    observer_->record_applied(launch, record);
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

bool Ordering::try_apply(OrderCounters& counters, ParkedGroup& group,
                         std::span<const std::byte> record) {
  if (header_of(record).kind == wire::RecordKind::kAcquire) {
    read_order_numbers(record, numbers_);
    for (std::size_t index = 0; index < numbers_.count; ++index) {
      if (!counters.has_reached(numbers_.of_lanes[index])) {
        counters.wait(numbers_.of_lanes[index], &group);
        return false;
      }
    }
  }
  apply(counters, group.launch, record);
  return true;
}

void Ordering::route(OrderCounters& counters, Launch& launch, std::span<const std::byte> record) {
  const LaunchId id = launch.shape.info.id;
  const std::uint32_t cluster = launch.shape.cluster_of(header_of(record).cta);
  const auto parked = launch.parked.find(cluster);
  if (parked != launch.parked.end()) {
    parked->second->records.emplace_back(record.begin(), record.end());
    parked_bytes_ += record.size();
    return;
  }
  if (header_of(record).kind != wire::RecordKind::kAcquire) {
    apply(counters, id, record);
    return;
  }
  auto group = std::make_unique<ParkedGroup>();
  group->launch = id;
  group->cluster = cluster;
  group->counters = &counters;
  if (!try_apply(counters, *group, record)) {
    group->records.emplace_back(record.begin(), record.end());
    parked_bytes_ += record.size();
    launch.parked.emplace(cluster, std::move(group));
  }
}

void Ordering::take(OrderCounters& counters, std::span<const std::byte> record) {
  const RecordHeader header = header_of(record);
  if (header.kind == wire::RecordKind::kVoid) {
    return;
  }
  Launch* launch = find(header.launch);
  if (launch == nullptr) {
    ++rejected_;
    count_numbers(counters, record);
  } else if (!launch->awaited.empty()) {
    launch->early.push_back({.counters = &counters, .record = {record.begin(), record.end()}});
    parked_bytes_ += record.size();
  } else {
    route(counters, *launch, record);
  }
  go_on();
}

void Ordering::advance(ParkedGroup& group) {
  while (!group.records.empty()) {
    const RecordBytes record = std::move(group.records.front());
    group.records.pop_front();
    if (!try_apply(*group.counters, group, record)) {
      group.records.push_front(record);
      return;
    }
    parked_bytes_ -= record.size();
  }
  Launch* launch = find(static_cast<std::uint16_t>(group.launch));
  if (launch != nullptr) {
    launch->parked.erase(group.cluster);
  }
}

void Ordering::on_launch_over(LaunchId id) {
  Launch* ended = find(static_cast<std::uint16_t>(id));
  if (ended == nullptr || ended->shape.info.id != id) {
    return;
  }
  for (const auto& [cluster, group] : ended->parked) {
    group->counters->forget(group.get());
    std::erase(ready_, group.get());
    for (const RecordBytes& record : group->records) {
      parked_bytes_ -= record.size();
    }
  }
  launches_.erase(static_cast<std::uint16_t>(id));
  std::vector<LaunchId> released;
  for (auto& [low, launch] : launches_) {
    if (std::erase(launch->awaited, id) != 0 && launch->awaited.empty()) {
      released.push_back(launch->shape.info.id);
    }
  }
  for (const LaunchId next : released) {
    Launch* launch = find(static_cast<std::uint16_t>(next));
    const std::deque<Launch::Early> early = std::exchange(launch->early, {});
    for (const Launch::Early& each : early) {
      parked_bytes_ -= each.record.size();
      // Its launch may end with the last of these, but not before.
      route(*each.counters, *launch, each.record);
    }
  }
}

// A launch that ends lets others start and a release lets groups go on, either may do the other:
// not by recursion, which would be as deep as the program is long.
void Ordering::go_on() {
  if (is_going_on_) {
    return;
  }
  is_going_on_ = true;
  while (!ready_.empty() || !over_.empty()) {
    if (!over_.empty()) {
      const LaunchId id = over_.back();
      over_.pop_back();
      ended_.push_back(id);
      on_launch_over(id);
      continue;
    }
    ParkedGroup* group = ready_.back();
    ready_.pop_back();
    advance(*group);
  }
  is_going_on_ = false;
}

void Ordering::end_launch(LaunchId id) {
  Launch* launch = find(static_cast<std::uint16_t>(id));
  if (launch != nullptr && launch->shape.info.id == id) {
    may_have_holes_ = true;
    const auto parked = std::exchange(launch->parked, {});
    for (const auto& [cluster, group] : parked) {
      group->counters->forget(group.get());
      std::erase(ready_, group.get());
      for (const RecordBytes& record : group->records) {
        parked_bytes_ -= record.size();
        apply(*group->counters, id, record);
      }
    }
    for (const Launch::Early& each : launch->early) {
      parked_bytes_ -= each.record.size();
      apply(*each.counters, id, each.record);
    }
  }
  if (observer_ != nullptr) {
    observer_->launch_ended(id);
  }
  detector_.end_launch(id);
  over_.push_back(id);
  go_on();
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

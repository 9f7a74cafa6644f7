#include "host_detector/queue/ordering.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace barracuda::detector {

Ordering::Ordering(Detector& detector, const OrderingOptions& options)
    : detector_(detector),
      options_(options),
      work_(options.late_after),
      applier_(detector, options.observer, work_, parked_),
      rounds_(options.threads > 1
                  ? std::make_unique<Rounds>(detector, work_, parked_, applier_, options.threads,
                                             options.least_shared_bytes)
                  : nullptr) {}

void Ordering::begin_launch(const LaunchInfo& info) {
  work_.forget_force_ended(info.id);
  auto launch = std::make_unique<OpenLaunch>(info);
  launch->awaited = work_.not_over(info.ordered_after);
  if (launch->awaited.empty()) {
    begin(*launch);
    if (detector_.launch_over(info.id)) {
      ended_.push_back(info.id);
      return;  // an empty grid
    }
  }
  work_.add(std::move(launch));
}

void Ordering::begin(OpenLaunch& launch) {
  launch.begun = options_.now();
  if (options_.observer != nullptr) {
    options_.observer->launch_begun(launch.shape.info);
  }
  detector_.begin_launch(launch.shape.info);
}

void Ordering::begin_copy(const CopyInfo& copy) {
  if (work_.joins_waiting(copy)) {
    return;
  }
  std::vector<WorkId> awaited = work_.not_over(copy.ordered_after);
  for (const WorkId free : work_.not_over(copy.freed_by)) {
    if (std::ranges::find(awaited, free) == awaited.end()) {
      awaited.push_back(free);
    }
  }
  if (awaited.empty()) {
    apply_copy(copy);
    return;
  }
  work_.add(copy, std::move(awaited));
}

void Ordering::apply_copy(const CopyInfo& copy) {
  if (options_.observer != nullptr) {
    options_.observer->copy_begun(copy);
  }
  detector_.apply_copy(copy);
}

void Ordering::route(OrderCounters& counters, OpenLaunch& launch, std::uint32_t cta,
                     std::span<const std::byte> record) {
  const std::uint32_t cluster = launch.shape.cluster_of(cta);
  ClusterQueue* queue = ParkedRecords::find(launch, cluster);
  if (queue == nullptr) {
    if (!launch.awaited.empty()) {
      queue = &parked_.make(counters, launch, cluster);
      launch.early.push_back(queue);
    } else if (const OrderNumber* const number = applier_.unreached(counters, record)) {
      queue = &parked_.make(counters, launch, cluster);
      counters.wait(*number, queue);
    } else {
      applier_.apply(counters, launch.id(), record);
      return;
    }
  }
  parked_.push(*queue, record);
}

void Ordering::take_one(OrderCounters& counters, std::span<const std::byte> record) {
  const RecordHeader header = header_of(record);
  if (header.kind == wire::RecordKind::kVoid) {
    return;
  }
  OpenLaunch* const launch = work_.find(header.launch);
  if (launch == nullptr) {
    applier_.refuse(counters, record);
  } else {
    route(counters, *launch, header.cta, record);
  }
  work_.count_record();
  if (has_work()) {
    go_on();
  }
}

void Ordering::take(OrderCounters& counters, const void* ring, RecordBatch&& batch) {
  if (rounds_ == nullptr) {
    batch.for_each([&](std::span<const std::byte> record) { take_one(counters, record); });
  } else if (rounds_->keep(counters, ring, std::move(batch))) {
    go_on();
  }
}

void Ordering::advance(ClusterQueue& queue) {
  while (!queue.is_empty()) {
    if (!applier_.apply_front(queue)) {
      queue.shrink();
      return;
    }
  }
  if (OpenLaunch* const launch = work_.find(queue.launch())) {
    parked_.drop(*launch, queue);
  }
}

void Ordering::close(WorkId work) {
  if (work.is_copy()) {
    for (const CopyInfo& copy : work_.parts_of(work.copy())) {
      apply_copy(copy);
    }
  } else {
    ended_.push_back(work.launch());
    OpenLaunch* const launch = work_.find(work.launch());
    if (launch == nullptr) {
      return;  // noted twice
    }
    parked_.drop_all(*launch);  // records after its end
  }
  for (const WorkId follower : work_.close(work)) {
    go_on_with(follower);
  }
}

void Ordering::go_on_with(WorkId work) {
  if (work.is_copy()) {
    work_.add_over(work);
    return;
  }
  OpenLaunch* const launch = work_.find(work.launch());
  ASSERT(launch != nullptr);
  begin(*launch);
  if (launch->is_force_ended) {
    force_end(*launch);
    return;
  }
  if (detector_.launch_over(work.launch())) {
    work_.add_over(work);
  }
  parked_.begin(*launch);
}

// A launch that ends lets others start and a release lets clusters go on, either may do the other:
// not by recursion, which would be as deep as the program is long.
void Ordering::go_on() {
  if (is_going_on_) {
    return;
  }
  is_going_on_ = true;
  if (has_kept()) {
    rounds_->apply_kept();
  }
  while (has_work()) {
    if (work_.has_over()) {
      close(work_.take_over());
    } else if (rounds_ != nullptr) {
      rounds_->apply_ready();
    } else {
      ClusterQueue& queue = *parked_.ready().back();
      parked_.ready().pop_back();
      advance(queue);
    }
  }
  is_going_on_ = false;
  ASSERT(!has_kept());
  DEBUG_ASSERT(is_valid());
}

void Ordering::end_launch(LaunchId id) {
  go_on();
  OpenLaunch* const launch = work_.find(id);
  if (launch == nullptr) {
    return;
  }
  if (!launch->awaited.empty()) {
    launch->is_force_ended = true;  // what comes after it comes after these as well
    return;
  }
  force_end(*launch);
  go_on();
}

void Ordering::force_end(OpenLaunch& launch) {
  const LaunchId id = launch.id();
  ASSERT(launch.awaited.empty());
  may_have_holes_ = true;
  work_.note_force_ended(id);
  // What stands behind an acquire whose releases never come goes with it: they may have ordered it.
  parked_.drop_all(launch);
  if (options_.observer != nullptr) {
    options_.observer->launch_ended(id);
  }
  detector_.end_launch(id);
  work_.add_over(id);
}

bool Ordering::skip_hole(OrderCounters& counters) {
  if (!may_have_holes_ || parked_.bytes() == 0) {
    return false;
  }
  counters.skip_hole(parked_.ready());
  const bool can_go_on = !parked_.ready().empty();
  go_on();
  return can_go_on;
}

}  // namespace barracuda::detector

#include "host_detector/queue/record_applier.h"

namespace barracuda::detector {

const OrderNumber* RecordApplier::unreached(const OrderCounters& counters,
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

void RecordApplier::count_numbers(OrderCounters& counters, std::span<const std::byte> record) {
  if (kind_of(record) != wire::RecordKind::kRelease) {
    return;
  }
  read_order_numbers(record, numbers_);
  for (std::size_t index = 0; index < numbers_.count; ++index) {
    counters.applied(numbers_.of_lanes[index], parked_.ready());
  }
}

void RecordApplier::apply(OrderCounters& counters, LaunchId launch,
                          std::span<const std::byte> record) {
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
    work_.add_over(launch);
  }
}

bool RecordApplier::apply_front(ClusterQueue& queue) {
  if (const OrderNumber* const number = unreached(queue.counters(), queue.front())) {
    queue.counters().wait(*number, &queue);
    return false;
  }
  parked_.subtract(queue.front().size());
  apply(queue.counters(), queue.launch(), queue.front());
  queue.pop();
  return true;
}

// A force-ended launch may go on logging; its end was already reported, so that is no error.
void RecordApplier::refuse(OrderCounters& counters, std::span<const std::byte> record) {
  rejected_ += work_.was_force_ended(header_of(record).launch) ? 0 : 1;
  count_numbers(counters, record);
}

}  // namespace barracuda::detector

// Barriers of a whole warp that are logged by their number (wire::RecordKind::kWarpBarriers): when
// each of them was, since the last barrier of the block, for accesses that are told of later
// (kEarlier).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/assert.h"
#include "device_logger/shared_states.h"
#include "host_detector/clock/clock.h"

namespace barracuda::detector {

class CountedBarriers {
 public:
  // Of the newest, as records have it (wire::told_number).
  [[nodiscard]] std::uint32_t number() const { return number_; }

  // Forgets those of another interval of the block.
  void enter(std::uint32_t number) {
    if (!is_of_interval(number)) {
      number_ = number & ~wire::kMostWarpBarriers;
      ends_.clear();
    }
  }

  // One more, before which it was `end`.
  void add(Time end) {
    ASSERT((number_ & wire::kMostWarpBarriers) == ends_.size() &&
           ends_.size() < wire::kMostWarpBarriers);
    ends_.push_back(end);
    ++number_;
  }

  // Whether one was after what happened at `time`, and before what did at `later`.
  [[nodiscard]] bool has_between(Time time, Time later) const {
    return std::ranges::any_of(ends_, [&](Time end) { return time <= end && end < later; });
  }

  // The first time in the interval of that number, if a barrier of the warp began it.
  [[nodiscard]] Time begin_of(std::uint32_t number) const {
    const std::uint32_t barriers = number & wire::kMostWarpBarriers;
    return is_of_interval(number) && barriers != 0 && barriers <= ends_.size()
               ? ends_[barriers - 1] + 1
               : Time{0};
  }

  // The last time in the interval of that number, if it is over.
  [[nodiscard]] Time time_in(std::uint32_t number, Time now) const {
    return is_of_interval(number) && number < number_ ? ends_[number & wire::kMostWarpBarriers]
                                                      : now;
  }

 private:
  [[nodiscard]] bool is_of_interval(std::uint32_t number) const {
    return ((number ^ number_) & ~wire::kMostWarpBarriers) == 0;
  }

  std::uint32_t number_ = 0;
  std::vector<Time> ends_;
};

}  // namespace barracuda::detector

// Puts records into an order that is consistent with synchronisation (RACE_RULES section 4) and
// applies them. Records of one queue come in slot order. An acquire from global memory waits until
// the releases with smaller numbers are applied, and its CTA (with its cluster) waits with it; a
// launch waits until the launches before it are over; everything else is applied at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "host_detector/detector.h"
#include "host_detector/observer.h"
#include "host_detector/queue/order_counters.h"

namespace barracuda::detector {

using RecordBytes = std::vector<std::byte>;

class Ordering {
 public:
  // `observer` may be null.
  explicit Ordering(Detector& detector, Observer* observer = nullptr);
  ~Ordering();
  Ordering(const Ordering&) = delete;
  Ordering& operator=(const Ordering&) = delete;

  void begin_launch(const LaunchInfo& launch);
  // One whole record. `counters` are those of its device context and outlive this.
  void take(OrderCounters& counters, std::span<const std::byte> record);
  // Applies what is parked of the launch as far as it goes, and ends it by decree. Numbers that its
  // threads took may never come.
  void end_launch(LaunchId launch);
  // Nothing more will come for now: if a launch ended by decree, numbers that it may have taken are
  // given up one at a time. True if something could go on.
  bool skip_hole(OrderCounters& counters);

  // The launches that have ended since the last call.
  [[nodiscard]] std::vector<LaunchId> take_ended() { return std::exchange(ended_, {}); }

  [[nodiscard]] std::size_t parked_bytes() const { return parked_bytes_; }

  [[nodiscard]] std::uint64_t rejected() const { return rejected_; }

 private:
  struct Launch;

  void route(OrderCounters& counters, Launch& launch, std::span<const std::byte> record);
  // False if the record must wait; its group then waits with it.
  bool try_apply(OrderCounters& counters, ParkedGroup& group, std::span<const std::byte> record);
  void apply(OrderCounters& counters, LaunchId launch, std::span<const std::byte> record);
  void count_numbers(OrderCounters& counters, std::span<const std::byte> record);
  void go_on();
  void advance(ParkedGroup& group);
  void on_launch_over(LaunchId launch);
  Launch* find(std::uint16_t low_bits);

  Detector& detector_;
  Observer* const observer_;
  boost::unordered_flat_map<std::uint16_t, std::unique_ptr<Launch>> launches_;  // not over
  std::vector<ParkedGroup*> ready_;
  std::vector<LaunchId> over_;   // launches that have just ended
  std::vector<LaunchId> ended_;  // those whose end nobody has asked for yet
  bool is_going_on_ = false;
  bool may_have_holes_ = false;
  std::size_t parked_bytes_ = 0;
  std::uint64_t rejected_ = 0;
  WarpOperation operation_;
  OrderNumbers numbers_;
};

}  // namespace barracuda::detector

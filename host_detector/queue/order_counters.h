// How far the numbered releases of one device context have been applied, counter by counter, and
// who waits for more (device_logger/order_number.h).
#pragma once

#include <cstdint>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "device_logger/order_number.h"
#include "host_detector/queue/decode.h"

namespace barracuda::detector {

class ClusterQueue;

class OrderCounters {
 public:
  OrderCounters() : done_(wire::kOrderCounters) {}

  // Every release with a smaller number was applied.
  [[nodiscard]] bool has_reached(const OrderNumber& stamp) const {
    return static_cast<std::int32_t>(done_[stamp.counter] - stamp.number) >= 0;
  }

  // Groups that can go on now are appended to `ready`.
  void applied(const OrderNumber& release, std::vector<ClusterQueue*>& ready);
  void wait(const OrderNumber& stamp, ClusterQueue* group);
  void forget(const ClusterQueue* group);
  // A number that was taken will never come: passes over one for the cluster that waits for fewest.
  void skip_hole(std::vector<ClusterQueue*>& ready);

  // No cluster waits for a number that was applied, and no number that was applied early is due.
  [[nodiscard]] bool is_valid() const;

 private:
  struct Waiter {
    std::uint32_t stamp = 0;
    ClusterQueue* group = nullptr;
  };

  static bool waits_longer(const Waiter& a, const Waiter& b);
  void wake(std::uint32_t counter, std::vector<ClusterQueue*>& ready);

  std::vector<std::uint32_t> done_;  // by counter
  // Applied out of order, as distances from done_ would move: plain numbers, few.
  boost::unordered_flat_map<std::uint32_t, std::vector<std::uint32_t>> ahead_;
  // Heaps with the earliest on top: a lock has as many as there are blocks.
  boost::unordered_flat_map<std::uint32_t, std::vector<Waiter>> waiters_;
};

}  // namespace barracuda::detector

#include "host_detector/queue/order_counters.h"

#include <algorithm>

#include "base/assert.h"

namespace barracuda::detector {
namespace {

// Counters wrap: numbers are compared by their distance.
bool is_later(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::int32_t>(a - b) > 0;
}

}  // namespace

bool OrderCounters::waits_longer(const Waiter& a, const Waiter& b) {
  return is_later(a.stamp, b.stamp);
}

bool OrderCounters::is_valid() const {
  const bool are_ahead = std::ranges::all_of(ahead_, [this](const auto& each) {
    const std::uint32_t done = done_[each.first];
    return !each.second.empty() && std::ranges::is_heap(each.second, is_later) &&
           is_later(each.second.front(), done);
  });
  return are_ahead && std::ranges::all_of(waiters_, [this](const auto& each) {
           return !each.second.empty() && std::ranges::is_heap(each.second, waits_longer) &&
                  std::ranges::none_of(each.second, [&](const Waiter& waiter) {
                    return waiter.group == nullptr ||
                           has_reached({.counter = each.first, .number = waiter.stamp});
                  });
         });
}

void OrderCounters::wake(std::uint32_t counter, std::vector<ClusterQueue*>& ready) {
  const auto waiting = waiters_.find(counter);
  if (waiting == waiters_.end()) {
    return;
  }
  std::vector<Waiter>& waiters = waiting->second;
  while (!waiters.empty() && has_reached({.counter = counter, .number = waiters.front().stamp})) {
    ready.push_back(waiters.front().group);
    std::ranges::pop_heap(waiters, waits_longer);
    waiters.pop_back();
  }
  if (waiters.empty()) {
    waiters_.erase(waiting);
  }
}

void OrderCounters::applied(const OrderNumber& release, std::vector<ClusterQueue*>& ready) {
  ASSERT(release.counter < done_.size());
  std::uint32_t& done = done_[release.counter];
  if (release.number != done) {
    if (is_later(release.number, done)) {
      // A heap with the earliest on top.
      std::vector<std::uint32_t>& ahead = ahead_[release.counter];
      ahead.push_back(release.number);
      std::ranges::push_heap(ahead, is_later);
    }
    return;
  }
  ++done;
  const auto ahead = ahead_.find(release.counter);
  if (ahead != ahead_.end()) {
    std::vector<std::uint32_t>& numbers = ahead->second;
    while (!numbers.empty() && !is_later(numbers.front(), done)) {
      done += numbers.front() == done ? 1 : 0;
      std::ranges::pop_heap(numbers, is_later);
      numbers.pop_back();
    }
    if (numbers.empty()) {
      ahead_.erase(ahead);
    }
  }
  wake(release.counter, ready);
  DEBUG_ASSERT(is_valid());
}

void OrderCounters::wait(const OrderNumber& stamp, ClusterQueue* group) {
  ASSERT(group != nullptr && stamp.counter < done_.size() && !has_reached(stamp));
  std::vector<Waiter>& waiters = waiters_[stamp.counter];
  waiters.push_back({.stamp = stamp.number, .group = group});
  std::ranges::push_heap(waiters, waits_longer);
}

void OrderCounters::forget(const ClusterQueue* group) {
  for (auto& [counter, waiting] : waiters_) {
    if (std::erase_if(waiting, [&](const Waiter& waiter) { return waiter.group == group; }) != 0) {
      std::ranges::make_heap(waiting, waits_longer);
    }
  }
  erase_if(waiters_, [](const auto& each) { return each.second.empty(); });
  DEBUG_ASSERT(is_valid());
}

void OrderCounters::skip_hole(std::vector<ClusterQueue*>& ready) {
  std::uint32_t best_counter = 0;
  std::uint32_t best_missing = ~std::uint32_t{0};
  for (const auto& [counter, waiting] : waiters_) {
    for (const Waiter& waiter : waiting) {
      const std::uint32_t missing = waiter.stamp - done_[counter];
      if (missing < best_missing) {
        best_missing = missing;
        best_counter = counter;
      }
    }
  }
  if (best_missing != ~std::uint32_t{0}) {
    // One number at a time: later ones may have come.
    applied({.counter = best_counter, .number = done_[best_counter]}, ready);
  }
}

}  // namespace barracuda::detector

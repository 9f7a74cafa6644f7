#include "host_detector/queue/order_counters.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>
#include <vector>

#include <catch2/catch.hpp>
#include <rapidcheck.h>

namespace barracuda::detector {
namespace {

constexpr std::uint32_t kCounters = 3;

// Groups of which only the addresses matter.
class Groups {
 public:
  ClusterQueue* operator[](std::size_t index) {
    return reinterpret_cast<ClusterQueue*>(&places_.at(index));
  }

 private:
  std::array<std::byte, 64> places_{};
};

}  // namespace

TEST_CASE("a stamp is reached once every smaller number was applied, in whatever order they come") {
  CHECK(rc::check([] {
    OrderCounters counters;
    std::vector<OrderNumber> numbers;
    for (std::uint32_t counter = 0; counter < kCounters; ++counter) {
      const auto count = *rc::gen::inRange<std::uint32_t>(0, 12);
      for (std::uint32_t number = 0; number < count; ++number) {
        numbers.push_back({.counter = counter * 1000, .number = number});
      }
    }
    // Anything may overtake anything.
    for (std::size_t index = numbers.size(); index > 1; --index) {
      std::swap(numbers[index - 1], numbers[*rc::gen::inRange<std::size_t>(0, index)]);
    }
    std::array<Groups, kCounters> groups;
    std::set<const ClusterQueue*> waiting;
    for (std::uint32_t counter = 0; counter < kCounters; ++counter) {
      for (std::uint32_t stamp = 1; stamp < 14; ++stamp) {
        counters.wait({.counter = counter * 1000, .number = stamp}, groups[counter][stamp]);
        waiting.insert(groups[counter][stamp]);
      }
    }
    std::array<std::set<std::uint32_t>, kCounters> applied;
    for (const OrderNumber& number : numbers) {
      std::vector<ClusterQueue*> ready;
      counters.applied(number, ready);
      applied[number.counter / 1000].insert(number.number);
      for (const ClusterQueue* group : ready) {
        RC_ASSERT(waiting.erase(group) == 1U);  // woken once
      }
      for (std::uint32_t counter = 0; counter < kCounters; ++counter) {
        for (std::uint32_t stamp = 0; stamp < 14; ++stamp) {
          bool all = true;
          for (std::uint32_t smaller = 0; smaller < stamp; ++smaller) {
            all = all && applied[counter].contains(smaller);
          }
          RC_ASSERT(counters.has_reached({.counter = counter * 1000, .number = stamp}) == all);
          RC_ASSERT(stamp == 0 || waiting.contains(groups[counter][stamp]) != all);
        }
      }
    }
  }));
}

TEST_CASE("a group that is forgotten is not woken") {
  OrderCounters counters;
  Groups groups;
  counters.wait({.counter = 4, .number = 1}, groups[0]);
  counters.wait({.counter = 4, .number = 1}, groups[1]);
  counters.forget(groups[0]);
  std::vector<ClusterQueue*> ready;
  counters.applied({.counter = 4, .number = 0}, ready);
  CHECK(ready == std::vector<ClusterQueue*>{groups[1]});
}

TEST_CASE("holes are given up one at a time, for whoever waits for the fewest") {
  OrderCounters counters;
  Groups groups;
  counters.wait({.counter = 1, .number = 2}, groups[0]);
  counters.wait({.counter = 2, .number = 5}, groups[1]);
  std::vector<ClusterQueue*> ready;
  counters.applied({.counter = 1, .number = 1}, ready);  // 0 will never come
  CHECK(ready.empty());
  counters.skip_hole(ready);
  CHECK(ready == std::vector<ClusterQueue*>{groups[0]});
  for (int hole = 0; hole < 4; ++hole) {
    counters.skip_hole(ready);
    CHECK(ready.size() == 1);
  }
  counters.skip_hole(ready);
  CHECK(ready.size() == 2);
}

}  // namespace barracuda::detector

#include "host_detector/launches/launch_order.h"

#include <set>
#include <vector>

#include <catch2/catch.hpp>
#include <rapidcheck/catch.h>

#include "host_detector/copy.h"
#include "host_detector/launches/sync_users.h"

namespace barracuda::detector {

// Streams that take turns by chance, and learn of each other by chance: against what follows from
// one step after the other.
TEST_CASE("the order of launches is the one that follows from what each was ordered after") {
  rc::prop("all pairs of the newest launches", [] {
    const auto streams = *rc::gen::inRange(1, 4);
    const auto count = static_cast<std::size_t>(*rc::gen::inRange(1000, 3000));
    const auto meetings = *rc::gen::inRange(1, 400);
    LaunchOrder order;
    constexpr std::size_t kNewest = 30;
    std::vector<std::vector<WorkId>> after(count + 1);
    std::vector<WorkId> tails(static_cast<std::size_t>(streams));
    std::uint64_t state = static_cast<std::uint64_t>(*rc::gen::arbitrary<std::uint32_t>()) | 1;
    const auto random = [&](std::size_t below) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      return static_cast<std::size_t>(state >> 33) % below;
    };
    for (std::size_t i = 1; i <= count; ++i) {
      const LaunchId id{static_cast<std::uint32_t>(i)};
      WorkId& tail = tails[random(tails.size())];
      std::vector<WorkId>& before = after[i];
      if (tail != LaunchId{}) {
        before.push_back(tail);
      }
      const WorkId other = tails[random(tails.size())];
      if (random(static_cast<std::size_t>(meetings)) == 0 && other != LaunchId{} && other != tail) {
        before.push_back(other);
      }
      order.add(id, before);
      tail = id;
    }
    for (std::size_t later = count - kNewest; later <= count; ++later) {
      std::set<std::size_t> past;
      std::vector<std::size_t> open{later};
      while (!open.empty()) {
        const std::size_t at = open.back();
        open.pop_back();
        for (const WorkId each : after[at]) {
          const auto earlier = static_cast<std::size_t>(each.launch());
          if (past.insert(earlier).second) {
            open.push_back(earlier);
          }
        }
      }
      for (std::size_t first = 1; first <= count; ++first) {
        RC_ASSERT(order.is_before(LaunchId{static_cast<std::uint32_t>(first)},
                                  LaunchId{static_cast<std::uint32_t>(later)}) ==
                  past.contains(first));
      }
    }
  });
}

TEST_CASE("kernels and copies that follow each other are known by their numbers, others are not") {
  LaunchOrder order;
  WorkId last;
  for (std::uint32_t i = 1; i <= 5000; ++i) {
    for (const WorkId id : {WorkId(LaunchId{i}), WorkId(CopyId{i})}) {
      order.add(id, std::vector{last});
      last = id;
    }
  }
  CHECK(order.is_before(LaunchId{1}, CopyId{1}));
  CHECK_FALSE(order.is_before(CopyId{1}, LaunchId{1}));
  CHECK(order.is_before(CopyId{2047}, LaunchId{2048}));
  CHECK(order.is_before(LaunchId{2048}, CopyId{2048}));
  CHECK(order.is_after_all(CopyId{5000}));
  CHECK_FALSE(order.is_after_all(LaunchId{5000}));
  CHECK(order.knows(LaunchId{1024}));
  CHECK_FALSE(order.knows(LaunchId{0}));
  CHECK_FALSE(order.knows(LaunchId{5001}));
  CHECK_FALSE(order.knows(CopyId{1U << 20}));
}

TEST_CASE(
    "streams that synchronise for ever and never meet are remembered by their last launches") {
  LaunchOrder order;
  SyncUsers users;
  std::vector<std::pair<LaunchId, int>> running;
  for (std::uint32_t i = 1; i <= 2000; ++i) {
    const LaunchId id{i};
    order.add(id, i > 2 ? std::vector<WorkId>{LaunchId{i - 2}} : std::vector<WorkId>{});
    running.emplace_back(id, 0);
    if (running.size() > 2) {
      running.erase(running.begin());
    }
    (void)users.add(id, running, order);
    REQUIRE(users.size() <= 3);
  }
}

}  // namespace barracuda::detector

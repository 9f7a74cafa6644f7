// Which block and warp of the program those of the device are, and which blocks are extra.
#include "device_logger/stressed_launch.h"

#include <algorithm>
#include <set>

#include <catch2/catch.hpp>

namespace barracuda::wire {
namespace {

std::set<std::uint32_t> program_clusters_of(const StressedLaunch& launch, std::uint32_t all) {
  std::set<std::uint32_t> numbers;
  for (std::uint32_t cluster = 0; cluster < all; ++cluster) {
    if (!is_extra(launch, cluster, all)) {
      CHECK(numbers.insert(program_cluster(launch, cluster, all)).second);
    }
  }
  return numbers;
}

}  // namespace

TEST_CASE("as many clusters are extra as were asked for, wherever they begin") {
  for (const std::uint32_t own : {1U, 2U, 7U, 132U, 1000U}) {
    for (const std::uint32_t extra : {0U, 1U, own / 2, own}) {
      const std::uint32_t all = own + extra;
      for (const std::uint32_t phase : {0U, all / 2, all - 1}) {
        const StressedLaunch launch{
            .clusters = {.window = 132, .factor = 137, .turn = 5}, .extra = extra, .phase = phase};
        const std::set<std::uint32_t> numbers = program_clusters_of(launch, all);
        CHECK(numbers.size() == own);
        CHECK(*numbers.rbegin() == own - 1);
      }
    }
  }
}

TEST_CASE("extra clusters lie among the others, not behind them") {
  const StressedLaunch launch{.extra = 25, .phase = 0};
  std::uint32_t longest = 0, without = 0;
  for (std::uint32_t cluster = 0; cluster < 125; ++cluster) {
    without = is_extra(launch, cluster, 125) ? 0 : without + 1;
    longest = std::max(longest, without);
  }
  CHECK(longest == 4);
}

TEST_CASE("without an order of their own clusters keep it: who waits for lower numbers may") {
  const StressedLaunch launch{.extra = 30, .phase = 17};
  std::uint32_t next = 0;
  for (std::uint32_t cluster = 0; cluster < 130; ++cluster) {
    if (!is_extra(launch, cluster, 130)) {
      CHECK(program_cluster(launch, cluster, 130) == next++);
    }
  }
}

TEST_CASE("warps change places as a whole, in their units, and what is left over stays") {
  const std::uint32_t threads = GENERATE(32U, 96U, 100U, 256U, 1000U, 1024U);
  const std::uint32_t together = GENERATE(1U, 4U);
  const StressedLaunch launch{.warps = {.window = 32, .factor = 37, .turn = 3},
                              .warps_together = together};
  std::set<std::uint32_t> numbers;
  for (std::uint32_t thread = 0; thread < threads; ++thread) {
    const std::uint32_t number = program_thread(launch, thread, threads);
    CHECK(number < threads);
    CHECK(number % kWarpLanes == thread % kWarpLanes);
    CHECK(number / kWarpLanes % together == thread / kWarpLanes % together);
    numbers.insert(number);
    if (thread >= threads / (kWarpLanes * together) * kWarpLanes * together) {
      CHECK(number == thread);
    }
  }
  CHECK(numbers.size() == threads);
  CHECK(program_thread(StressedLaunch{}, 77, threads) == 77);
}

}  // namespace barracuda::wire

#include <catch2/catch.hpp>

#include "tests/unit/host_detector/scenario.h"

namespace barracuda::detector::test {

TEST_CASE("a block whose threads all wait, at two barriers, has diverged") {
  for (const bool all_wait : {true, false}) {
    Scenario scenario;
    const LaunchId launch = scenario.launch(1, 64);
    scenario.barrier({.warp = 0, .mask = kAll}, 0);
    if (all_wait) {
      scenario.barrier({.warp = 1, .mask = kAll}, 1);
    }
    scenario.detector.end_launch(launch);
    CHECK(scenario.detector.launch_over(launch));
    CHECK(scenario.detector.findings().divergences.size() == (all_wait ? 1 : 0));
  }
}

TEST_CASE("lanes of one warp at two places of an aligned barrier diverge") {
  for (const bool is_aligned : {true, false}) {
    Scenario scenario(1, 64);
    const SiteInfo barrier{.operation = Operation::kBarrier, .aligned = is_aligned};
    scenario.event({.warp = 1, .mask = kAll}, barrier);
    scenario.event({.mask = 0xFFFF}, barrier);
    scenario.event({.mask = 0xFFFF0000}, barrier);
    const auto& found = scenario.detector.findings().divergences;
    REQUIRE(found.size() == (is_aligned ? 1 : 0));
    if (is_aligned) {
      CHECK(found[0].arrived.thread.lane == 0);
      REQUIRE(found[0].elsewhere.size() == 1);
      CHECK(found[0].elsewhere[0].thread.lane == 16);
    }
  }
}

TEST_CASE("lanes that leave while others of their warp wait at an aligned barrier are a warning") {
  struct Case {
    std::uint32_t waits;
    std::size_t warnings;
  };

  // Every other lane, all but one in the middle; then guards at the edges: `if (i < n)`, and so on.
  for (const Case& each : {Case{0x55555555, 1}, Case{~(1U << 7), 1}, Case{0x0000FFFF, 0},
                           Case{0xFFFFFFFE, 0}, Case{0x7FFFFFFE, 0}}) {
    for (const bool leave_first : {true, false}) {
      INFO(each.waits << (leave_first ? ", left first" : ", left last"));
      Scenario scenario(1, 64);
      const SiteInfo barrier{.operation = Operation::kBarrier, .aligned = true};
      if (leave_first) {
        scenario.exit({.mask = ~each.waits});
      }
      scenario.event({.warp = 1, .mask = kAll}, barrier);
      scenario.event({.mask = each.waits}, barrier);
      if (!leave_first) {
        scenario.exit({.mask = ~each.waits});
      }
      const auto& found = scenario.detector.findings().divergences;
      REQUIRE(found.size() == each.warnings);
      if (each.warnings == 1) {
        CHECK(found[0].severity == Severity::kWarning);
        CHECK(found[0].arrived.thread.lane == 0);
        REQUIRE(found[0].elsewhere.size() == 1);
        CHECK((each.waits >> found[0].elsewhere[0].thread.lane & 1U) == 0);
      }
    }
  }
}

TEST_CASE("a guard of a two-dimensional block is no divergence") {
  Scenario scenario;
  LaunchInfo info{.id = LaunchId{1}, .grid = {}, .block = {8, 4, 1}, .cluster = {}};
  scenario.detector.begin_launch(info);
  const SiteInfo barrier{.operation = Operation::kBarrier, .aligned = true};
  constexpr std::uint32_t kSixByThree = 0x003F3F3F;
  scenario.event({.mask = kSixByThree}, barrier);
  scenario.exit({.mask = ~kSixByThree});
  CHECK(scenario.detector.findings().divergences.empty());
}

}  // namespace barracuda::detector::test

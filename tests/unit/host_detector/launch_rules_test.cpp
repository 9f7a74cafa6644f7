// Order between launches: by their streams, and by what they tell each other through memory.
#include <catch2/catch.hpp>

#include "tests/unit/host_detector/scenario.h"

namespace barracuda::detector::test {
namespace {

const SiteInfo kReleaseStore = word(Operation::kWrite, MemoryOrder::kRelease, Scope::kGpu);
const SiteInfo kAcquireLoad = word(Operation::kRead, MemoryOrder::kAcquire, Scope::kGpu);

// A launch that let its dependents begin and is over.
LaunchId write_in_one_that_lets_begin(Scenario& scenario) {
  const LaunchId launch = scenario.launch(1, 1);
  scenario.let_dependents_begin({.launch = launch});
  scenario.write({.launch = launch}, kData);
  scenario.exit({.launch = launch});
  return launch;
}

}  // namespace

TEST_CASE("launches are ordered by their streams and otherwise race") {
  for (const bool ordered : {true, false}) {
    Scenario scenario;
    const LaunchId first = scenario.launch(1, 1);
    scenario.write({.launch = first}, kData);
    scenario.exit({.launch = first});
    CHECK(scenario.detector.launch_over(first));
    const LaunchId second = ordered ? scenario.launch(1, 1, {first}) : scenario.launch(1, 1);
    CHECK_FALSE(scenario.detector.launch_over(second));
    scenario.read({.launch = second}, kData);
    REQUIRE(scenario.races().size() == (ordered ? 0 : 1));
    if (!ordered) {
      CHECK(scenario.races()[0].kind == RaceKind::kInterKernel);
    }
  }
}

TEST_CASE("concurrent launches may synchronise through global memory") {
  Scenario scenario;
  const LaunchId first = scenario.launch(1, 1);
  const LaunchId second = scenario.launch(1, 1);
  scenario.write({.launch = first}, kData);
  scenario.store({.launch = first}, kReleaseStore, kFlag, 1);
  scenario.load({.launch = second}, kAcquireLoad, kFlag, 1);
  scenario.write({.launch = second}, kData);
  scenario.exit({.launch = second});
  // After the second only: what that one learnt of the first it hands on.
  const LaunchId third = scenario.launch(1, 1, {second});
  scenario.read({.launch = third}, kData);
  CHECK(scenario.is_clean());
}

TEST_CASE("a launch learns of one that is over and not ordered before it") {
  Scenario scenario;
  const LaunchId first = scenario.launch(1, 1);
  scenario.write({.launch = first}, kData);
  scenario.store({.launch = first}, kReleaseStore, kFlag, 1);
  scenario.exit({.launch = first});
  const LaunchId second = scenario.launch(1, 1);
  scenario.load({.launch = second}, kAcquireLoad, kFlag, 1);
  scenario.exit({.launch = second});
  const LaunchId third = scenario.launch(1, 1, {second});
  scenario.write({.launch = third}, kData);
  CHECK(scenario.is_clean());
}

TEST_CASE("who learns of a launch learns of the launches before it") {
  Scenario scenario;
  const LaunchId first = scenario.launch(1, 1);
  scenario.write({.launch = first}, kData);
  scenario.exit({.launch = first});
  const LaunchId second = scenario.launch(1, 1, {first});
  scenario.store({.launch = second}, kReleaseStore, kFlag, 1);
  const LaunchId beside = scenario.launch(1, 1);
  scenario.load({.launch = beside}, kAcquireLoad, kFlag, 1);
  scenario.write({.launch = beside}, kData);
  CHECK(scenario.is_clean());
}

TEST_CASE("a programmatic launch comes after its prerequisite from the wait on") {
  for (const bool lets_begin : {true, false}) {
    for (const bool waits : {true, false}) {
      for (const Model model : {Model::kPtx, Model::kPaper}) {
        CAPTURE(lets_begin, waits, static_cast<int>(model));
        Scenario scenario({.model = model});
        const LaunchId first = scenario.launch(1, 1);
        if (lets_begin) {
          scenario.let_dependents_begin({.launch = first});
        }
        scenario.write({.launch = first}, kData);
        scenario.exit({.launch = first});
        const LaunchId second = scenario.launch_programmatic(1, 1, first);
        if (waits) {
          scenario.grid_wait({.launch = second});
        }
        scenario.read({.launch = second}, kData);
        const bool races = lets_begin && !waits;
        REQUIRE(scenario.races().size() == (races ? 1 : 0));
        if (races) {
          CHECK(scenario.races()[0].kind == RaceKind::kInterKernel);
          CHECK(scenario.races()[0].missing == MissingOrder::kGridWaitMissing);
        }
      }
    }
  }
}

TEST_CASE("who waited for a prerequisite tells others by what orders threads") {
  for (const bool is_told : {true, false}) {
    Scenario scenario;
    const LaunchId first = write_in_one_that_lets_begin(scenario);
    const LaunchId second = scenario.launch_programmatic(1, 64, first);
    scenario.grid_wait({.launch = second});
    if (is_told) {
      scenario.barrier({.launch = second, .mask = ~0U});
      scenario.barrier({.launch = second, .warp = 1, .mask = ~0U});
    }
    scenario.read({.launch = second, .warp = 1}, kData);
    CHECK(scenario.is_clean() == is_told);
  }
}

TEST_CASE("a programmatic launch begins after what its prerequisite began after") {
  Scenario scenario;
  const LaunchId before = scenario.launch(1, 1);
  scenario.write({.launch = before}, kData);
  scenario.exit({.launch = before});
  const LaunchId first = scenario.launch(1, 1, {before});
  scenario.let_dependents_begin({.launch = first});
  scenario.exit({.launch = first});
  const LaunchId second = scenario.launch_programmatic(1, 1, first);
  scenario.write({.launch = second}, kData);
  CHECK(scenario.is_clean());
}

TEST_CASE("a programmatic launch knows what its prerequisite knew of others when it began") {
  Scenario scenario;
  const LaunchId other = scenario.launch(1, 1);
  scenario.write({.launch = other}, kData);
  scenario.store({.launch = other}, kReleaseStore, kFlag, 1);
  const LaunchId taker = scenario.launch(1, 1);
  scenario.load({.launch = taker}, kAcquireLoad, kFlag, 1);
  scenario.exit({.launch = taker});
  const LaunchId first = scenario.launch(1, 1, {taker});
  scenario.let_dependents_begin({.launch = first});
  scenario.exit({.launch = first});
  const LaunchId second = scenario.launch_programmatic(1, 1, first);
  scenario.write({.launch = second}, kData);
  CHECK(scenario.is_clean());
}

TEST_CASE("what follows a programmatic launch follows its prerequisite as well") {
  Scenario scenario;
  const LaunchId first = write_in_one_that_lets_begin(scenario);
  const LaunchId second = scenario.launch_programmatic(1, 1, first);
  scenario.exit({.launch = second});
  const LaunchId third = scenario.launch(1, 1, {second, Scenario::end_of(first)});
  scenario.read({.launch = third}, kData);
  CHECK(scenario.is_clean());
}

TEST_CASE("a launch goes on when one of its blocks has ended on another thread") {
  Scenario scenario;
  const LaunchId launch = scenario.launch(2, 1);
  scenario.write({.cta = 0}, kData);
  const WarpOperation exit =
      scenario.start({.cta = 0}, {.operation = Operation::kExit}, RecordKind::kEvent);
  CHECK(Detector::ClusterApplier(scenario.detector, launch).apply(exit));
  scenario.detector.count(1, 0);
  scenario.write({.cta = 1}, kData);
  CHECK(scenario.races().size() == 1);
}

TEST_CASE("a block that is over takes no more records, and those that come after it do") {
  Scenario scenario(40, 1);
  scenario.exit({.cta = 32});
  for (const std::uint32_t block : {0U, 16U, 31U, 33U}) {
    scenario.write({.cta = block}, kData + block * 64);
  }
  CHECK(scenario.is_clean());
  scenario.write({.cta = 32}, kData);
  CHECK(scenario.detector.rejected() == 1);
  CHECK(scenario.races().empty());
}

}  // namespace barracuda::detector::test

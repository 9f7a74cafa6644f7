// The rules of model=paper, one by one; the oracle compares all of them together.
#include <cstdint>

#include <catch2/catch.hpp>

#include "tests/unit/host_detector/scenario.h"

namespace barracuda::detector::test {
namespace {

using wire::FenceScope;

constexpr std::uint64_t kMeeting = 7;
constexpr std::uint32_t kLow = 0xFFFF, kHigh = 0xFFFF0000;

Scenario paper_scenario(bool report_same_value = false) {
  return Scenario({.report_same_value = report_same_value, .model = Model::kPaper});
}

SiteInfo flow(Operation operation, std::uint64_t meeting) {
  SiteInfo site{.operation = operation};
  site.constant = meeting;
  return site;
}

void branch(Scenario& scenario, const Who& who, std::uint32_t taken,
            std::uint64_t meeting = kMeeting) {
  scenario.event(who, flow(Operation::kBranch, meeting), taken);
}

void meet(Scenario& scenario, const Who& who, std::uint64_t meeting = kMeeting) {
  scenario.event(who, flow(Operation::kMeet, meeting));
}

SiteInfo sync(Operation operation, FenceScope acquires, FenceScope releases) {
  SiteInfo site = word(operation, MemoryOrder::kRelaxed);
  site.numbered = true;
  site.acquires = acquires;
  site.releases = releases;
  return site;
}

void release(Scenario& scenario, const Who& who, FenceScope scope) {
  scenario.store(who, sync(Operation::kWrite, FenceScope::kNone, scope), kFlag, 1);
}

void acquire(Scenario& scenario, const Who& who, FenceScope scope) {
  scenario.load(who, sync(Operation::kRead, scope, FenceScope::kNone), kFlag, 1);
}

}  // namespace

TEST_CASE("lanes in lockstep know what the instruction before did") {
  Scenario scenario = paper_scenario();
  scenario.launch(1, 32);
  scenario.write({.mask = kAll}, kData, 4);
  scenario.read({.mask = kAll}, kData + 4);  // what lane 1 wrote
  scenario.read({.mask = 1}, kData + 8);     // a predicated instruction
  CHECK(scenario.races().empty());
}

TEST_CASE("the ways of a branch are not ordered, and where they meet they are") {
  Scenario scenario = paper_scenario();
  scenario.launch(1, 32);
  branch(scenario, {.mask = kAll}, kLow);
  scenario.write({.mask = kLow}, kData, 4);
  SECTION("on the other way") {
    scenario.read({.mask = kHigh}, kData);
    REQUIRE(scenario.races().size() == 1);
    CHECK(scenario.races()[0].kind == RaceKind::kBranchOrdering);
  }
  SECTION("behind the meeting") {
    meet(scenario, {.mask = kAll});
    scenario.read({.mask = kHigh}, kData);
    CHECK(scenario.races().empty());
  }
}

TEST_CASE("a branch that all lanes take alike parts nobody") {
  Scenario scenario = paper_scenario();
  scenario.launch(1, 32);
  branch(scenario, {.mask = kAll}, kAll);
  scenario.write({.mask = kLow}, kData);
  scenario.write({.mask = kHigh}, kData);
  // Each of the two instructions stores different values at one place.
  REQUIRE(scenario.races().size() == 2);
  CHECK(scenario.races()[0].kind == RaceKind::kIntraWarp);
  CHECK(scenario.races()[1].kind == RaceKind::kIntraWarp);
}

TEST_CASE("rounds of a loop meet at its end, once") {
  Scenario scenario = paper_scenario();
  scenario.launch(1, 4);
  branch(scenario, {.mask = 0xF}, 1);  // lane 0 leaves
  branch(scenario, {.mask = 0xE}, 2);  // lane 1 leaves
  scenario.write({.mask = 4}, kData);
  meet(scenario, {.mask = 0xF});
  scenario.write({.mask = 1}, kData);
  scenario.write({.mask = 8}, kData);
  CHECK(scenario.races().empty());
}

TEST_CASE("of nested branches each meeting joins its own ways") {
  Scenario scenario = paper_scenario();
  scenario.launch(1, 4);
  branch(scenario, {.mask = 0xF}, 3, 1);
  branch(scenario, {.mask = 3}, 1, 2);
  scenario.write({.mask = 1}, kData);
  meet(scenario, {.mask = 3}, 2);
  scenario.write({.mask = 2}, kData);
  CHECK(scenario.races().empty());
  scenario.write({.mask = 4}, kData);
  REQUIRE(scenario.races().size() == 1);
  CHECK(scenario.races()[0].kind == RaceKind::kBranchOrdering);
}

TEST_CASE("the ways of a switch are not ordered") {
  Scenario scenario = paper_scenario();
  scenario.launch(1, 4);
  for (const std::uint32_t lane : {0U, 1U, 2U, 3U}) {
    scenario.event({.mask = 1U << lane}, flow(Operation::kSwitch, kMeeting), lane);
  }
  scenario.write({.mask = 1}, kData);
  scenario.write({.mask = 8}, kData);
  CHECK(scenario.races().size() == 1);
  meet(scenario, {.mask = 0xF});
  scenario.write({.mask = 2}, kData);
  CHECK(scenario.races().size() == 1);
}

TEST_CASE("ways that do not meet in a function meet at its return") {
  Scenario scenario = paper_scenario();
  scenario.launch(1, 2);
  scenario.call({.mask = 3});
  branch(scenario, {.mask = 3}, 1, wire::kNoMeeting);
  scenario.write({.mask = 1}, kData);
  scenario.leave({.mask = 3});
  scenario.write({.mask = 2}, kData);
  CHECK(scenario.races().empty());
}

TEST_CASE("a lane that went on before the others came is behind them all the same") {
  Scenario scenario = paper_scenario();
  scenario.launch(1, 2);
  branch(scenario, {.mask = 3}, 1);
  meet(scenario, {.mask = 1});
  scenario.write({.mask = 1}, kData);
  scenario.write({.mask = 2}, kData);
  meet(scenario, {.mask = 2});
  scenario.write({.mask = 2}, kData);
  CHECK(scenario.races().empty());
}

TEST_CASE("lanes of one instruction that store one value do not race under the paper's rules") {
  for (const bool reports : {false, true}) {
    Scenario scenario = paper_scenario(reports);
    scenario.launch(1, 32);
    WarpOperation operation =
        scenario.start({.mask = 3}, word(Operation::kWrite), RecordKind::kAffine);
    operation.lanes_agree = true;
    operation.lanes[0].address = operation.lanes[1].address = kData;
    scenario.detector.apply(operation);
    REQUIRE(scenario.races().size() == (reports ? 1 : 0));
    if (reports) {
      CHECK(scenario.races()[0].severity == Severity::kWarning);
    }
  }
}

TEST_CASE("a release reaches an acquire if one of them is global") {
  for (const FenceScope released : {FenceScope::kBlock, FenceScope::kGlobal}) {
    for (const FenceScope acquired : {FenceScope::kBlock, FenceScope::kGlobal}) {
      for (const std::uint32_t reader : {0U, 1U}) {
        Scenario scenario = paper_scenario();
        scenario.launch(2, 64);
        const Who second{.cta = reader, .warp = 1};
        scenario.write({}, kData);
        release(scenario, {}, released);
        acquire(scenario, second, acquired);
        scenario.read(second, kData);
        const bool is_ordered =
            reader == 0 || released == FenceScope::kGlobal || acquired == FenceScope::kGlobal;
        CHECK(scenario.races().empty() == is_ordered);
      }
    }
  }
}

TEST_CASE("a release replaces the one before, an acquire and release keeps it") {
  for (const bool acquires : {false, true}) {
    Scenario scenario = paper_scenario();
    scenario.launch(3, 32);
    const SiteInfo both =
        sync(Operation::kAtomic, acquires ? FenceScope::kGlobal : FenceScope::kNone,
             FenceScope::kGlobal);
    scenario.write({.cta = 0}, kData);
    scenario.atomic({.cta = 0}, both, kFlag, 0, 1);
    scenario.atomic({.cta = 1}, both, kFlag, 1, 2);
    acquire(scenario, {.cta = 2}, FenceScope::kGlobal);
    scenario.read({.cta = 2}, kData);
    CHECK(scenario.races().empty() == acquires);
  }
}

TEST_CASE("atomics do not race with each other, and order nothing") {
  Scenario scenario = paper_scenario();
  scenario.launch(2, 32);
  const SiteInfo atomic = word(Operation::kAtomic, MemoryOrder::kRelaxed);
  scenario.write({.cta = 0}, kData);
  scenario.access({.cta = 0}, atomic, kFlag);
  scenario.access({.cta = 1}, atomic, kFlag);
  CHECK(scenario.races().empty());
  scenario.read({.cta = 1}, kData);
  CHECK(scenario.races().size() == 1);
  scenario.write({.cta = 0}, kFlag);
  CHECK(scenario.races().size() == 2);
}

TEST_CASE("a barrier orders the threads of its block") {
  Scenario scenario = paper_scenario();
  scenario.launch(2, 64);
  scenario.write({.mask = 1}, kData);
  for (const std::uint8_t warp : {std::uint8_t{0}, std::uint8_t{1}}) {
    scenario.barrier({.warp = warp, .mask = kAll});
  }
  scenario.write({.warp = 1, .mask = 1}, kData);
  CHECK(scenario.races().empty());
  scenario.write({.cta = 1, .mask = 1}, kData);
  REQUIRE(scenario.races().size() == 1);
  CHECK(scenario.races()[0].kind == RaceKind::kInterBlock);
}

TEST_CASE("a barrier on one way of a branch diverges") {
  Scenario scenario = paper_scenario();
  scenario.launch(1, 32);
  SiteInfo barrier{.operation = Operation::kBarrier};
  barrier.aligned = true;
  branch(scenario, {.mask = kAll}, kLow);
  scenario.event({.mask = kLow}, barrier);
  CHECK(scenario.detector.findings().divergences.empty());
  const SiteId other = scenario.event({.mask = kHigh}, barrier);
  REQUIRE(scenario.detector.findings().divergences.size() == 1);
  const BarrierDivergence& divergence = scenario.detector.findings().divergences[0];
  REQUIRE(divergence.elsewhere.size() == 1);
  CHECK(divergence.elsewhere[0].site == other);
}

TEST_CASE("copies are not held against kernels, but what is ordered by them is ordered") {
  Scenario scenario = paper_scenario();
  const LaunchId giver = scenario.launch(1, 1), taker = scenario.launch(1, 1);
  scenario.write({.launch = giver}, kData);
  release(scenario, {.launch = giver}, FenceScope::kGlobal);
  acquire(scenario, {.launch = taker}, FenceScope::kGlobal);
  scenario.exit({.launch = taker});
  const CopyId copy{1};
  scenario.detector.apply_copy(
      {.id = copy,
       .call = CallId{1},
       .ordered_after = {taker},
       .host_waited = {},
       .accesses = {{.address = kData, .row_bytes = 4, .is_written = true}}});
  const LaunchId last = scenario.launch(1, 1, {copy});
  scenario.write({.launch = last}, kData);
  CHECK(scenario.is_clean());
  scenario.write({.launch = giver}, kData);
  CHECK(scenario.races().size() == 1);
}

TEST_CASE("launches of one stream are ordered under the paper's rules, others are not") {
  Scenario scenario = paper_scenario();
  const LaunchId first = scenario.launch(1, 32);
  scenario.write({.launch = first}, kData);
  scenario.exit({.launch = first, .mask = kAll});
  const LaunchId second = scenario.launch(1, 32, {first});
  scenario.write({.launch = second}, kData);
  CHECK(scenario.races().empty());
  const LaunchId third = scenario.launch(1, 32);
  scenario.write({.launch = third}, kData);
  REQUIRE(scenario.races().size() == 1);
  CHECK(scenario.races()[0].kind == RaceKind::kInterKernel);
}

TEST_CASE("accesses of few bytes race at the bytes that they share") {
  Scenario scenario = paper_scenario();
  scenario.launch(2, 32);
  SiteInfo byte = word(Operation::kWrite);
  byte.element_bytes = 1;
  scenario.access({.cta = 0}, byte, kData);
  scenario.access({.cta = 1}, byte, kData + 1);
  CHECK(scenario.races().empty());
  scenario.read({.cta = 1}, kData);
  CHECK(scenario.races().size() == 1);
}

TEST_CASE("what tells where shared variables lie orders nothing for model=paper") {
  Scenario scenario = paper_scenario();
  scenario.launch(2, 32);
  const SiteId site = scenario.event({.mask = 1}, {.operation = Operation::kSharedPlace}, 1024, 3);
  CHECK(scenario.detector.findings().shared_places ==
        std::vector{SharedPlace{.site = site, .number = 3, .address = 1024}});
  CHECK(scenario.is_clean());
}

}  // namespace barracuda::detector::test

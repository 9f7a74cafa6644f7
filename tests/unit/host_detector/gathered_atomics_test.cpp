// Atomics of a block that wait until it synchronises.
#include "host_detector/races/gathered_atomics.h"

#include <algorithm>
#include <initializer_list>
#include <tuple>
#include <vector>

#include <catch2/catch.hpp>

#include "host_detector/state/launch_state.h"
#include "tests/unit/host_detector/scenario.h"

namespace barracuda::detector::test {
namespace {

const SiteInfo kAdd = word(Operation::kReduction, MemoryOrder::kRelaxed, Scope::kGpu);

WarpOperation scattered(Scenario& scenario, const Who& who, const SiteInfo& site,
                        std::uint64_t address) {
  WarpOperation operation = scenario.start(who, site, RecordKind::kScattered);
  for (LaneAccess& lane : operation.lanes) {
    lane.address = address;
  }
  return operation;
}

WarpOperation barrier_of(Scenario& scenario, const Who& who, const SiteInfo& barrier) {
  return scenario.start(who, barrier, RecordKind::kEvent);
}

}  // namespace

TEST_CASE("atomics of a warp to a word are one if nothing but their lanes differs") {
  LaunchState launch({.id = LaunchId{1}});
  CtaState cta(launch, 0);
  GatheredAtomics atomics;
  CHECK(atomics.cta() == nullptr);
  const GatheredAtomic first{.tagged = kData, .time = 1, .site = 2, .stack = 3, .lanes = 1};
  atomics.add(cta, first);
  const auto add = [&](auto change) {
    GatheredAtomic other = first;
    other.lanes = 4;
    change(other);
    atomics.add(cta, other);
  };
  add([](GatheredAtomic&) {});
  add([](GatheredAtomic& other) { other.warp = 1; });
  add([](GatheredAtomic& other) { other.time = 2; });
  add([](GatheredAtomic& other) { other.site = 3; });
  add([](GatheredAtomic& other) { other.stack = 4; });
  add([](GatheredAtomic& other) { other.tagged += 4; });
  // In the chain of the first, and none of its word.
  add([](GatheredAtomic& other) { other.tagged += std::uint64_t{1} << 40; });
  CHECK(atomics.is_valid());
  CHECK(atomics.cta() == &cta);
  std::vector<std::tuple<std::uint64_t, std::uint32_t>> taken;
  atomics.take(
      [&](const GatheredAtomic& atomic) { taken.emplace_back(atomic.tagged, atomic.lanes); });
  CHECK(taken.size() == 7);
  CHECK(std::ranges::count(taken, std::tuple(kData, 5U)) == 1);
  CHECK(std::ranges::count(taken, std::tuple(kData, 4U)) == 4);
  CHECK(atomics.is_empty());
  CHECK(atomics.is_valid());
}

TEST_CASE("gathered atomics are held against what came before and after them") {
  Scenario scenario(2, 64);
  const WarpOperation add = scattered(scenario, {.mask = 3}, kAdd, kData);
  const WarpOperation store = scattered(scenario, {.warp = 1}, word(Operation::kWrite), kData);
  SECTION("a store before") {
    Detector::ClusterApplier applier(scenario.detector, LaunchId{1});
    CHECK(applier.apply(store));
    CHECK(applier.apply(add));
  }
  SECTION("a store after") {
    Detector::ClusterApplier applier(scenario.detector, LaunchId{1});
    CHECK(applier.apply(add));
    CHECK(applier.apply(store));
  }
  SECTION("a store of another block, after all of them") {
    {
      Detector::ClusterApplier applier(scenario.detector, LaunchId{1});
      CHECK(applier.apply(add));
    }
    CHECK(scenario.is_clean());
    scenario.write({.cta = 1}, kData);
  }
  CHECK(scenario.has_only(Severity::kError));
}

TEST_CASE("gathered atomics do not wait while their block synchronises") {
  Scenario scenario(1, 64);
  const SiteInfo barrier{.operation = Operation::kBarrier};
  const WarpOperation add = scattered(scenario, {}, kAdd, kData);
  const WarpOperation load = scattered(scenario, {.warp = 1}, word(Operation::kRead), kData);
  const WarpOperation first = barrier_of(scenario, {.warp = 0, .mask = kAll}, barrier);
  const WarpOperation second = barrier_of(scenario, {.warp = 1, .mask = kAll}, barrier);
  const auto apply = [&](std::initializer_list<const WarpOperation*> operations) {
    Detector::ClusterApplier applier(scenario.detector, LaunchId{1});
    for (const WarpOperation* operation : operations) {
      CHECK(applier.apply(*operation));
    }
  };
  SECTION("what is before the barrier is ordered before what is after it") {
    apply({&add, &first, &second, &load});
    CHECK(scenario.is_clean());
  }
  SECTION("and with what is before the barrier it races") {
    apply({&load, &add, &first, &second});
    CHECK(scenario.has_only(Severity::kError));
  }
}

TEST_CASE("more atomics than are gathered at once are all taken") {
  Scenario scenario(2, 32);
  constexpr std::uint32_t kRecords = GatheredAtomics::kMost / wire::kWarpLanes + 2;
  WarpOperation add = scattered(scenario, {.mask = kAll}, kAdd, kData);
  {
    Detector::ClusterApplier applier(scenario.detector, LaunchId{1});
    for (std::uint32_t record = 0; record < kRecords; ++record) {
      for (std::uint32_t lane = 0; lane < wire::kWarpLanes; ++lane) {
        add.lanes[lane].address = kData + (std::uint64_t{record} * wire::kWarpLanes + lane) * 128;
      }
      CHECK(applier.apply(add));
    }
  }
  WarpOperation store = scattered(scenario, {.cta = 1, .mask = kAll}, word(Operation::kWrite), 0);
  for (std::uint32_t record = 0; record < kRecords; ++record) {
    for (std::uint32_t lane = 0; lane < wire::kWarpLanes; ++lane) {
      store.lanes[lane].address = kData + (std::uint64_t{record} * wire::kWarpLanes + lane) * 128;
    }
    scenario.detector.apply(store);
  }
  REQUIRE(scenario.races().size() == 1);
  CHECK(scenario.races()[0].count == std::uint64_t{kRecords} * wire::kWarpLanes);
}

}  // namespace barracuda::detector::test

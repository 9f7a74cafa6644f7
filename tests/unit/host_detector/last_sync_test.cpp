// What a race says of the synchronisation that each side executed last.
#include <catch2/catch.hpp>

#include "tests/unit/host_detector/scenario.h"

namespace barracuda::detector::test {
namespace {

constexpr Who kFirst{.warp = 0, .mask = kAll}, kSecond{.warp = 1, .mask = kAll};
constexpr Who kWriter{.warp = 0}, kReader{.warp = 1};

}  // namespace

TEST_CASE("a race names what each side synchronised by last, or that it did not") {
  Scenario scenario;
  scenario.launch(1, 64);
  scenario.write(kWriter, kData);
  scenario.read(kReader, kData);
  REQUIRE(scenario.races().size() == 1);
  CHECK(scenario.races()[0].first.last_sync == LastSync::kNone);
  CHECK(scenario.races()[0].second.last_sync == LastSync::kNone);

  const SiteId barrier = scenario.event(kFirst, {.operation = Operation::kBarrier});
  scenario.barrier(kSecond);
  scenario.write(kWriter, kData + 8);
  const SiteId fence = scenario.event(
      kReader,
      {.operation = Operation::kFence, .order = MemoryOrder::kAcqRel, .scope = Scope::kGpu});
  scenario.read(kReader, kData + 8);
  REQUIRE(scenario.races().size() == 2);
  const RaceEvent& race = scenario.races()[1];
  CHECK(race.first.last_sync == LastSync::kKnown);
  CHECK(race.first.last_sync_site == barrier);
  CHECK(race.second.last_sync == LastSync::kKnown);
  CHECK(race.second.last_sync_site == fence);
}

TEST_CASE("a barrier on one path: after the first access, and the second came to none") {
  for (const bool both_met_before : {false, true}) {
    Scenario scenario;
    scenario.launch(1, 64);
    if (both_met_before) {
      scenario.barrier(kFirst);
      scenario.barrier(kSecond);
    }
    scenario.write(kWriter, kData);
    scenario.barrier(kFirst);
    scenario.read(kReader, kData);
    REQUIRE(scenario.races().size() == 1);
    CHECK(scenario.races()[0].missing ==
          (both_met_before ? MissingOrder::kNoSynchronisation : MissingOrder::kBarrierOnOnePath));
  }
}

}  // namespace barracuda::detector::test

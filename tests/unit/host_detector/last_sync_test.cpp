// What a race says of the synchronisation that each side executed last.
#include <catch2/catch.hpp>

#include "tests/unit/host_detector/scenario.h"

namespace barracuda::detector::test {
namespace {

constexpr Who kFirst{.warp = 0, .mask = kAll}, kSecond{.warp = 1, .mask = kAll};
constexpr Who kWriter{.warp = 0}, kReader{.warp = 1};

}  // namespace

TEST_CASE("a race names what each side synchronised by last, or that it did not") {
  Scenario scenario(1, 64);
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
  CHECK(race.first.syncs == std::vector{SyncStep{.site = barrier}});
  CHECK(race.first.has_all_syncs);
  CHECK(race.second.syncs.size() == 2);
  CHECK(race.second.syncs[1] == SyncStep{.site = fence});
  CHECK(race.first.last_sync == LastSync::kKnown);
  CHECK(race.first.last_sync_site == barrier);
  CHECK(race.second.last_sync == LastSync::kKnown);
  CHECK(race.second.last_sync_site == fence);
}

TEST_CASE("of another block it is known while that block runs and after it is over") {
  for (const bool is_over : {false, true}) {
    Scenario scenario(2, 32);
    const Who writer{.cta = 0, .mask = kAll}, reader{.cta = 1};
    const SiteId barrier = scenario.event(writer, {.operation = Operation::kBarrier});
    scenario.write(kWriter, kData);
    const SiteId release = scenario.event(
        writer,
        {.operation = Operation::kFence, .order = MemoryOrder::kAcqRel, .scope = Scope::kGpu});
    if (is_over) {
      scenario.exit(writer);
    }
    scenario.read(reader, kData);
    REQUIRE(scenario.races().size() == 1);
    CHECK(scenario.races()[0].first.last_sync == LastSync::kKnown);
    CHECK(scenario.races()[0].first.last_sync_site == barrier);
    CHECK(scenario.races()[0].first.syncs ==
          std::vector{SyncStep{.site = barrier},
                      SyncStep{.site = release, .when = SyncWhen::kAfter}});
    CHECK(scenario.races()[0].second.last_sync == LastSync::kNone);
  }
}

TEST_CASE("a barrier at which a thread waits came behind what it has done") {
  Scenario scenario(2, 64);
  scenario.write(kWriter, kData);
  const SiteId barrier = scenario.event(kFirst, {.operation = Operation::kBarrier});
  scenario.read({.cta = 1}, kData);
  REQUIRE(scenario.races().size() == 1);
  CHECK(scenario.races()[0].first.last_sync == LastSync::kNone);
  CHECK(scenario.races()[0].first.syncs ==
        std::vector{SyncStep{.site = barrier, .when = SyncWhen::kAfter}});
}

TEST_CASE("of another launch it is known, also of one that was force-ended or had none") {
  for (const bool is_killed : {false, true}) {
    Scenario scenario;
    const LaunchId first = scenario.launch(1, 64);
    const LaunchId second = scenario.launch(1, 32);
    scenario.event(kFirst, {.operation = Operation::kFence});
    scenario.write(kWriter, kData);
    scenario.write({.warp = 1}, kData + 64);
    if (is_killed) {
      scenario.detector.end_launch(first);
    } else {
      scenario.exit(kFirst);
      scenario.exit(kSecond);
    }
    scenario.read({.launch = second}, kData);
    scenario.read({.launch = second}, kData + 64);
    REQUIRE(scenario.races().size() == 2);
    CHECK(scenario.races()[0].first.last_sync == LastSync::kKnown);
    CHECK(scenario.races()[1].first.last_sync == LastSync::kNone);
  }
}

TEST_CASE("what is too long ago is not known, and is said to be so") {
  Scenario scenario(2, 32);
  const Who writer{.cta = 0, .mask = kAll}, reader{.cta = 1, .mask = kAll};
  scenario.fence(writer, Scope::kGpu);
  scenario.write(kWriter, kData);
  for (int count = 0; count < 4; ++count) {
    scenario.fence(writer, Scope::kGpu);
    scenario.fence(reader, Scope::kGpu);
  }
  scenario.read({.cta = 1}, kData);
  REQUIRE(scenario.races().size() == 1);
  CHECK(scenario.races()[0].first.last_sync == LastSync::kUnknown);
  CHECK_FALSE(scenario.races()[0].first.has_all_syncs);
  CHECK(scenario.races()[0].second.last_sync == LastSync::kKnown);
}

TEST_CASE("blocks that are over are forgotten when thousands have ended after them") {
  for (const std::uint32_t others : {100U, 2048U}) {
    Scenario scenario(others + 2, 32);
    scenario.write(kWriter, kData);
    scenario.exit(kFirst);
    for (std::uint32_t other = 1; other <= others; ++other) {
      scenario.exit({.cta = other, .mask = kAll});
    }
    scenario.read({.cta = others + 1}, kData);
    REQUIRE(scenario.races().size() == 1);
    CHECK(scenario.races()[0].first.last_sync ==
          (others < 2048 ? LastSync::kNone : LastSync::kUnknown));
  }
}

TEST_CASE("of a kernel that races with a copy by the host it is known, the copy has none") {
  enum class CopyComes { kBeforeLaunch, kBeforeAccess, kLast };
  for (const CopyComes when :
       {CopyComes::kBeforeLaunch, CopyComes::kBeforeAccess, CopyComes::kLast}) {
    Scenario scenario;
    const auto copy_if = [&](CopyComes now) {
      if (when == now) {
        scenario.detector.apply_copy(
            {.id = CopyId{1}, .call = CallId{0}, .accesses = {{.address = kData, .row_bytes = 4}}});
      }
    };
    copy_if(CopyComes::kBeforeLaunch);
    const LaunchId launch = scenario.launch(1, 32);
    const SiteId fence = scenario.event(
        {.mask = kAll},
        {.operation = Operation::kFence, .order = MemoryOrder::kAcqRel, .scope = Scope::kGpu});
    copy_if(CopyComes::kBeforeAccess);
    scenario.write(kWriter, kData);
    copy_if(CopyComes::kLast);
    REQUIRE(scenario.races().size() == 1);
    const RaceEvent& race = scenario.races()[0];
    const bool is_copy_first = when == CopyComes::kBeforeLaunch;
    const RaceAccess& of_kernel = is_copy_first ? race.second : race.first;
    CHECK(of_kernel.thread.launch == launch);
    CHECK(of_kernel.last_sync == LastSync::kKnown);
    CHECK(of_kernel.last_sync_site == fence);
    CHECK((is_copy_first ? race.first : race.second).last_sync == LastSync::kNotAsked);
  }
}

}  // namespace barracuda::detector::test

// Copies and memsets by the host against kernels: by their streams, byte by byte, and by what
// kernels tell each other through memory.
#include <catch2/catch.hpp>

#include "host_detector/launches/live_copies.h"
#include "tests/unit/host_detector/async_scenario.h"

namespace barracuda::detector::test {
namespace {

const SiteInfo kReleaseStore = word(Operation::kWrite, MemoryOrder::kRelease, Scope::kGpu);
const SiteInfo kAcquireLoad = word(Operation::kRead, MemoryOrder::kAcquire, Scope::kGpu);

CopyInfo write_to(std::uint32_t number, std::vector<WorkId> after = {},
                  std::uint64_t address = kData, std::uint64_t bytes = 4) {
  return {.id = CopyId{number},
          .call = CallId{number},
          .ordered_after = std::move(after),
          .host_waited = {},
          .accesses = {{.address = address, .row_bytes = bytes, .is_written = true}}};
}

CopyInfo read_of(std::uint32_t number, std::vector<WorkId> after = {}) {
  CopyInfo copy = write_to(number, std::move(after));
  copy.accesses[0].is_written = false;
  return copy;
}

}  // namespace

TEST_CASE("a copy and a kernel race unless a stream orders them, whichever comes first") {
  for (const bool ordered : {true, false}) {
    for (const bool copy_first : {true, false}) {
      Scenario scenario;
      if (copy_first) {
        scenario.detector.apply_copy(write_to(7));
      }
      const LaunchId kernel =
          ordered && copy_first ? scenario.launch(1, 1, {CopyId{7}}) : scenario.launch(1, 1);
      const SiteId site = scenario.read({.launch = kernel}, kData);
      scenario.exit({.launch = kernel});
      if (!copy_first) {
        scenario.detector.apply_copy(ordered ? write_to(7, {kernel}) : write_to(7));
      }
      REQUIRE(scenario.races().size() == (ordered ? 0 : 1));
      if (ordered) {
        continue;
      }
      const RaceEvent& race = scenario.races()[0];
      CHECK(race.kind == RaceKind::kKernelCopy);
      CHECK(race.severity == Severity::kError);
      const RaceAccess& copy = copy_first ? race.first : race.second;
      const RaceAccess& access = copy_first ? race.second : race.first;
      CHECK(copy.site == CallId{7});
      CHECK(copy.address == kData);
      CHECK(copy.size == 4);
      CHECK(access.site == site);
      CHECK(access.thread.launch == kernel);
    }
  }
}

TEST_CASE("a copy that comes while a kernel runs meets what it does before and after") {
  for (const bool before : {true, false}) {
    Scenario scenario;
    const LaunchId kernel = scenario.launch(1, 1);
    if (before) {
      scenario.write({.launch = kernel}, kData);
    }
    scenario.detector.apply_copy(read_of(1));
    if (!before) {
      scenario.write({.launch = kernel}, kData);
    }
    CHECK(scenario.races().size() == 1);
  }
}

TEST_CASE("reads do not race, and neither do other bytes") {
  Scenario scenario;
  scenario.detector.apply_copy(read_of(1));
  CopyInfo rows = write_to(2, {CopyId{1}}, kData + 4);
  rows.accesses[0] = {
      .address = kData + 4, .row_bytes = 4, .pitch = 16, .rows = 3, .is_written = true};
  scenario.detector.apply_copy(rows);
  const LaunchId kernel = scenario.launch(1, 1);
  scenario.read({.launch = kernel}, kData);
  scenario.write({.launch = kernel}, kData + 8);
  scenario.write({.launch = kernel}, kData + 16);
  scenario.write({.launch = kernel}, kData + 52);
  CHECK(scenario.is_clean());
  scenario.write({.launch = kernel}, kData + 36);
  REQUIRE(scenario.races().size() == 1);
  CHECK(scenario.races()[0].first.size == 12);
}

TEST_CASE("copies of other streams race with each other, those of one do not") {
  Scenario scenario;
  scenario.detector.apply_copy(write_to(1));
  scenario.detector.apply_copy(write_to(2, {CopyId{1}}));
  CHECK(scenario.is_clean());
  scenario.detector.apply_copy(read_of(3));
  REQUIRE(scenario.races().size() == 1);
  CHECK(scenario.races()[0].first.site == CallId{2});
  CHECK(scenario.races()[0].second.site == CallId{3});
}

TEST_CASE("copies that share a number are in order") {
  Scenario scenario;
  const LaunchId kernel = scenario.launch(1, 1);
  scenario.detector.apply_copy(write_to(1));
  CopyInfo next = write_to(1, {CopyId{1}}, kData + 4);
  next.call = CallId{2};
  scenario.detector.apply_copy(next);
  CHECK(scenario.is_clean());
  scenario.read({.launch = kernel}, kData);
  scenario.read({.launch = kernel}, kData + 4);
  CHECK(scenario.races().size() == 2);
}

TEST_CASE("a copy is told apart from what a later copy of its stream stands for") {
  Scenario scenario;
  scenario.detector.apply_copy(write_to(1));
  const LaunchId between = scenario.launch(1, 1, {CopyId{1}});
  scenario.exit({.launch = between});
  scenario.detector.apply_copy(write_to(2, {between}));
  const LaunchId after_first = scenario.launch(1, 1, {CopyId{1}});
  scenario.read({.launch = after_first}, kData);
  REQUIRE(scenario.races().size() == 1);
  CHECK(scenario.races()[0].first.site == CallId{2});
}

TEST_CASE("what kernels tell each other through memory orders copies too") {
  SECTION("a copy before the one that releases") {
    Scenario scenario;
    scenario.detector.apply_copy(write_to(1));
    const LaunchId giver = scenario.launch(1, 1, {CopyId{1}});
    const LaunchId taker = scenario.launch(1, 1);
    scenario.store({.launch = giver}, kReleaseStore, kFlag, 1);
    scenario.load({.launch = taker}, kAcquireLoad, kFlag, 1);
    scenario.read({.launch = taker}, kData);
    CHECK(scenario.is_clean());
  }
  SECTION("a copy after the one that acquired") {
    Scenario scenario;
    const LaunchId giver = scenario.launch(1, 1);
    const LaunchId taker = scenario.launch(1, 1);
    scenario.write({.launch = giver}, kData);
    scenario.store({.launch = giver}, kReleaseStore, kFlag, 1);
    scenario.load({.launch = taker}, kAcquireLoad, kFlag, 1);
    scenario.exit({.launch = taker});
    scenario.detector.apply_copy(write_to(1, {taker}));
    const LaunchId last = scenario.launch(1, 1, {CopyId{1}});
    scenario.read({.launch = last}, kData);
    CHECK(scenario.is_clean());
    scenario.write({.launch = giver}, kData);
    CHECK(scenario.races().size() == 2);  // with the copy and with the last kernel
  }
}

TEST_CASE("a copy knows what the kernel before it was told, and what was over before that") {
  const SiteInfo relaxed_store = word(Operation::kWrite, MemoryOrder::kRelaxed, Scope::kGpu);
  const SiteInfo relaxed_load = word(Operation::kRead, MemoryOrder::kRelaxed, Scope::kGpu);
  constexpr std::uint64_t kOther = kFlag + 64;
  Scenario scenario;
  scenario.detector.apply_copy(write_to(1));
  const LaunchId before = scenario.launch(1, 1);
  scenario.write({.launch = before}, kData + 4);
  scenario.exit({.launch = before});
  const LaunchId writer = scenario.launch(1, 1);
  const LaunchId giver = scenario.launch(1, 1, {before, CopyId{1}});
  const LaunchId taker = scenario.launch(1, 1);
  scenario.store({.launch = writer}, relaxed_store, kOther, 1);
  scenario.load({.launch = giver}, relaxed_load, kOther, 1);
  scenario.store({.launch = giver}, kReleaseStore, kFlag, 1);
  scenario.load({.launch = taker}, kAcquireLoad, kFlag, 1);
  scenario.exit({.launch = taker});
  // After the other copy, what was over before the kernel that gave, and a write that it saw.
  std::uint32_t number = 2;
  for (const std::uint64_t address : {kData, kData + 4, kOther}) {
    scenario.detector.apply_copy(write_to(number++, {taker}, address));
    CHECK(scenario.is_clean());
  }
}

TEST_CASE("a copy knows of what a kernel copied by itself if that one had waited for it") {
  for (const bool waited : {false, true}) {
    AsyncScenario scenario;
    const LaunchId giver = scenario.launch(1, 1);
    const LaunchId taker = scenario.launch(1, 1);
    scenario.copy_async({.launch = giver}, shared(64), kData);
    scenario.commit({.launch = giver});
    if (waited) {
      scenario.wait_group({.launch = giver}, 0);
    }
    scenario.store({.launch = giver}, kReleaseStore, kFlag, 1);
    scenario.load({.launch = taker}, kAcquireLoad, kFlag, 1);
    scenario.exit({.launch = taker});
    scenario.detector.apply_copy(write_to(1, {taker}));
    CHECK(scenario.races().size() == (waited ? 0 : 1));
  }
}

TEST_CASE("of the lanes of one instruction each must know of the copy") {
  for (const std::int64_t stride : {4, 0}) {
    Scenario scenario;
    scenario.detector.apply_copy(write_to(1, {}, kData, 8));
    const LaunchId giver = scenario.launch(1, 1, {CopyId{1}});
    const LaunchId taker = scenario.launch(1, 2);
    scenario.store({.launch = giver}, kReleaseStore, kFlag, 1);
    scenario.load({.launch = taker, .mask = 1}, kAcquireLoad, kFlag, 1);
    scenario.read({.launch = taker, .mask = 3}, kData, stride);
    REQUIRE(scenario.races().size() == 1);
    CHECK(scenario.races()[0].second.thread.lane == 1);
  }
}

TEST_CASE("a later copy stands for an earlier one of its stream alone, and a read for no write") {
  SECTION("of another stream") {
    Scenario scenario;
    scenario.detector.apply_copy(read_of(1));
    scenario.detector.apply_copy(read_of(2));
    const LaunchId kernel = scenario.launch(1, 1, {CopyId{2}});
    scenario.write({.launch = kernel}, kData);
    REQUIRE(scenario.races().size() == 1);
    CHECK(scenario.races()[0].first.site == CallId{1});
  }
  SECTION("a read after a write") {
    Scenario scenario;
    scenario.detector.apply_copy(write_to(1));
    scenario.detector.apply_copy(read_of(2, {CopyId{1}}));
    const LaunchId kernel = scenario.launch(1, 1);
    scenario.read({.launch = kernel}, kData);
    REQUIRE(scenario.races().size() == 1);
    CHECK(scenario.races()[0].first.site == CallId{1});
  }
}

TEST_CASE("a flag that a kernel before the copy saw set may be copied and cleared") {
  for (const bool seen : {true, false}) {
    Scenario scenario;
    const LaunchId giver = scenario.launch(1, 1);
    const LaunchId taker = scenario.launch(1, 1);
    scenario.store({.launch = giver}, word(Operation::kWrite, MemoryOrder::kRelaxed, Scope::kGpu),
                   kFlag, 1);
    scenario.load({.launch = taker}, word(Operation::kRead, MemoryOrder::kRelaxed, Scope::kGpu),
                  kFlag, seen ? 1 : 0);
    scenario.exit({.launch = taker});
    scenario.detector.apply_copy(write_to(1, {taker}, kFlag));
    CHECK(scenario.races().size() == (seen ? 0 : 1));
  }
}

TEST_CASE(
    "a copy of constants that nothing orders around a launch that may read them is a warning") {
  for (const bool copy_first : {true, false}) {
    for (const bool ordered : {true, false}) {
      Scenario scenario;
      CopyInfo copy = write_to(1);
      CopyInfo constants = read_of(2);
      constants.operation = HostOperation::kConstants;
      CopyInfo& second = copy_first ? constants : copy;
      second.ordered_after =
          ordered ? std::vector<WorkId>{copy_first ? CopyId{1} : CopyId{2}} : std::vector<WorkId>{};
      scenario.detector.apply_copy(copy_first ? copy : constants);
      scenario.detector.apply_copy(second);
      REQUIRE(scenario.races().size() == (ordered ? 0 : 1));
      if (!ordered) {
        CHECK(scenario.races()[0].kind == RaceKind::kKernelCopy);
        CHECK(scenario.races()[0].severity == Severity::kWarning);
      }
    }
  }
}

TEST_CASE("launches beside one that reads constants need not look for it") {
  CopyInfo constants = read_of(1);
  constants.operation = HostOperation::kConstants;
  LaunchOrder order;
  order.add(constants.id, {});
  order.add(LaunchId{1}, {});
  LiveCopies copies;
  copies.add(constants, order);
  CHECK_FALSE(copies.has_others(LaunchId{1}, order));
  CHECK(copies.size() == 1);
}

TEST_CASE("memory that is freed forgets its copies") {
  Scenario scenario;
  scenario.detector.apply_copy(write_to(1, {}, kData, 64));
  scenario.detector.forget(kData, 32);
  const LaunchId kernel = scenario.launch(1, 1);
  scenario.write({.launch = kernel}, kData);
  CHECK(scenario.is_clean());
  scenario.write({.launch = kernel}, kData + 32);
  CHECK(scenario.races().size() == 1);
}

TEST_CASE("a large memset looks at touched pages only") {
  Scenario scenario;
  const LaunchId kernel = scenario.launch(1, 1);
  scenario.write({.launch = kernel}, kData + (std::uint64_t{1} << 40));
  scenario.exit({.launch = kernel});
  scenario.detector.apply_copy(write_to(1, {}, kData, std::uint64_t{1} << 41));
  CHECK(scenario.races().size() == 1);
}

TEST_CASE("copies that the host has waited for are not kept") {
  LaunchOrder order;
  LiveCopies copies;
  for (std::uint32_t i = 1; i <= 5000; ++i) {
    CopyInfo copy = write_to(i, {}, kData + i * 64);
    copy.ordered_after = {CopyId{i - 1}};
    order.add(copy.id, copy.ordered_after);
    copies.shrink([&](CopyId id) { return order.is_before(id, copy.id); }, order);
    copies.add(copy, order);
  }
  CHECK(copies.size() < 300);
}

TEST_CASE("of copies that nobody waits for, those that later ones stand for are not kept") {
  LaunchOrder order;
  LiveCopies copies;
  for (std::uint32_t i = 1; i <= 5000; ++i) {
    const CopyInfo copy = write_to(i, {CopyId{i - 1}}, kData + i % 10 * 64, 64);
    order.add(copy.id, copy.ordered_after);
    copies.shrink([](CopyId) { return false; }, order);
    copies.add(copy, order);
  }
  CHECK(copies.size() < 300);
}

TEST_CASE("repeated copies to the same memory are kept once") {
  LaunchOrder order;
  LiveCopies copies;
  for (std::uint32_t i = 1; i <= 5000; ++i) {
    const CopyInfo copy = write_to(i, {CopyId{i - 1}}, kData + i % 10 * 64, 64);
    order.add(copy.id, copy.ordered_after);
    copies.add(copy, order);
    copies.sort_in(order);
  }
  CHECK(copies.size() == 10);
  CallId newest{};
  copies.for_each(kData, kData + 1, [&](const LiveCopy& copy, auto...) { newest = copy.call; });
  CHECK(newest == CallId{5000});
}

}  // namespace barracuda::detector::test

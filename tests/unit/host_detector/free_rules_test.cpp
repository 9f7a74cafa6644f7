// Memory that is allocated and freed in the order of streams: what uses it outside of its life,
// what a free ends, and what its next owner meets.
#include <catch2/catch.hpp>

#include "host_detector/queue/ordering.h"
#include "tests/unit/host_detector/scenario.h"

namespace barracuda::detector::test {
namespace {

constexpr std::uint64_t kBytes = 256;

CopyInfo lifetime(HostOperation operation, std::uint32_t number, std::vector<WorkId> after,
                  std::uint64_t address = kData, std::uint64_t bytes = kBytes) {
  return {.id = CopyId{number},
          .operation = operation,
          .call = CallId{number},
          .ordered_after = std::move(after),
          .host_waited = {},
          .accesses = {{.address = address, .row_bytes = bytes, .is_written = true}},
          .freed_by = {}};
}

CopyInfo free_of(std::uint32_t number, std::vector<WorkId> after) {
  return lifetime(HostOperation::kFree, number, std::move(after));
}

CopyInfo allocation(std::uint32_t number, std::vector<WorkId> after) {
  return lifetime(HostOperation::kAllocation, number, std::move(after));
}

// Of one thread that writes.
LaunchId writer(Scenario& scenario, std::vector<WorkId> after, std::uint64_t address = kData) {
  const LaunchId kernel = scenario.launch(1, 1, std::move(after));
  scenario.write({.launch = kernel}, address);
  scenario.exit({.launch = kernel});
  return kernel;
}

}  // namespace

TEST_CASE("a free that nothing orders after a use races with it, whichever comes first") {
  for (const bool ordered : {true, false}) {
    for (const bool free_first : {true, false}) {
      Scenario scenario;
      LaunchId user{};
      if (free_first) {
        scenario.detector.apply_copy(free_of(1, {}));
        user = writer(scenario, ordered ? std::vector<WorkId>{CopyId{1}} : std::vector<WorkId>{});
      } else {
        user = writer(scenario, {});
        scenario.detector.apply_copy(
            free_of(1, ordered ? std::vector<WorkId>{user} : std::vector<WorkId>{}));
      }
      REQUIRE(scenario.races().size() == (ordered ? 0 : 1));
      if (!ordered) {
        const RaceEvent& race = scenario.races()[0];
        CHECK(race.kind == RaceKind::kUseAfterFree);
        const RaceAccess& freed = free_first ? race.first : race.second;
        CHECK(freed.site == CallId{1});
        CHECK(freed.address == kData);
        CHECK(freed.size == kBytes);
      }
    }
  }
}

// The host asked for the launch first: its records come at any time.
TEST_CASE("a race with a free names first what the host asked for first") {
  Scenario scenario;
  const LaunchId user = scenario.launch(1, 1, {});
  scenario.detector.apply_copy(free_of(1, {}));
  scenario.write({.launch = user}, kData);
  scenario.exit({.launch = user});
  REQUIRE(scenario.races().size() == 1);
  const RaceEvent& race = scenario.races()[0];
  CHECK(race.kind == RaceKind::kUseAfterFree);
  CHECK_FALSE(race.first.site.is_call());
  CHECK(race.first.thread.launch == user);
  CHECK(race.second.site == CallId{1});
}

TEST_CASE("who uses memory on after its free meets its next owner") {
  for (const bool ordered : {true, false}) {
    Scenario scenario;
    const LaunchId user = writer(scenario, {});
    scenario.detector.apply_copy(
        free_of(1, ordered ? std::vector<WorkId>{user} : std::vector<WorkId>{}));
    scenario.detector.apply_copy(allocation(2, {CopyId{1}}));
    writer(scenario, {CopyId{2}});
    REQUIRE(scenario.races().size() == (ordered ? 0 : 2));
    if (!ordered) {
      CHECK(scenario.races()[0].kind == RaceKind::kUseAfterFree);
      CHECK(scenario.races()[1].kind == RaceKind::kInterKernel);
    }
  }
}

TEST_CASE("the allocator orders a free before the next allocation of its bytes, and nothing else") {
  Scenario scenario;
  const LaunchId user = writer(scenario, {});
  writer(scenario, {user}, kFlag);
  scenario.detector.apply_copy(free_of(1, {user, LaunchId{2}}));
  scenario.detector.apply_copy(allocation(2, {}));
  writer(scenario, {CopyId{2}});
  CHECK(scenario.is_clean());
  writer(scenario, {CopyId{2}}, kFlag);
  CHECK(scenario.races().size() == 1);
}

TEST_CASE("an allocation stands for no copy before it in its stream") {
  Scenario scenario;
  scenario.detector.apply_copy(lifetime(HostOperation::kMemset, 1, {}));
  scenario.detector.apply_copy(allocation(2, {CopyId{1}}));
  scenario.detector.apply_copy(free_of(3, {}));
  REQUIRE(scenario.races().size() == 1);
  CHECK(scenario.races()[0].kind == RaceKind::kUseAfterFree);
  CHECK(scenario.races()[0].first.site == CallId{1});
}

TEST_CASE("memory is used before its allocation if nothing orders that") {
  Scenario scenario;
  scenario.detector.apply_copy(allocation(1, {}));
  writer(scenario, {CopyId{1}});
  CHECK(scenario.is_clean());
  writer(scenario, {LaunchId{1}}, kData + kBytes);
  CHECK(scenario.is_clean());
  writer(scenario, {}, kData + kBytes - 4);
  REQUIRE(scenario.races().size() == 1);
  CHECK(scenario.races()[0].kind == RaceKind::kUseBeforeAllocation);
}

TEST_CASE("a free ends what is ordered before it, of its own bytes only") {
  Scenario scenario;
  const LaunchId one = scenario.launch(1, 1);
  scenario.write({.launch = one}, kData);
  scenario.write({.launch = one}, kData + kBytes);
  scenario.exit({.launch = one});
  const LaunchId other = writer(scenario, {}, kData + 4);
  scenario.detector.apply_copy(free_of(1, {one}));
  CHECK(scenario.races().size() == 1);  // with the other
  scenario.detector.apply_copy(allocation(2, {}));
  const LaunchId next = scenario.launch(1, 1, {CopyId{2}});
  scenario.write({.launch = next}, kData);
  CHECK(scenario.races().size() == 1);
  scenario.write({.launch = next}, kData + 4);
  REQUIRE(scenario.races().size() == 2);
  CHECK(scenario.races()[1].first.thread.launch == other);
  scenario.write({.launch = next}, kData + kBytes);
  REQUIRE(scenario.races().size() == 3);
  CHECK(scenario.races()[2].first.thread.launch == one);
}

TEST_CASE("what synchronised in memory is over with its free, unless somebody uses it on") {
  const SiteInfo release = word(Operation::kWrite, MemoryOrder::kRelease, Scope::kGpu);
  const SiteInfo acquire = word(Operation::kRead, MemoryOrder::kAcquire, Scope::kGpu);
  for (const bool is_used_on : {false, true}) {
    Scenario scenario;
    const LaunchId one = scenario.launch(1, 1);
    const LaunchId bystander = scenario.launch(1, 1);
    scenario.write({.launch = one}, kFlag);
    scenario.store({.launch = one}, release, kData, 1);
    scenario.exit({.launch = one});
    scenario.detector.apply_copy(
        free_of(1, is_used_on ? std::vector<WorkId>{} : std::vector<WorkId>{one}));
    const std::size_t before = scenario.races().size();
    CHECK(before == (is_used_on ? 1 : 0));
    scenario.detector.apply_copy(allocation(2, {}));
    scenario.load({.launch = bystander}, acquire, kData, 1);
    scenario.read({.launch = bystander}, kFlag);
    const bool was_told = scenario.races().back().first.address != kFlag;
    CHECK(was_told == is_used_on);
  }
}

TEST_CASE("an allocation is applied after the frees of its bytes, and its users after it") {
  class Listener : public Observer {
   public:
    void copy_begun(const CopyInfo& copy) override { seen.push_back(copy.id); }

    void launch_begun(const LaunchInfo& launch) override { seen.push_back(launch.id); }

    std::vector<WorkId> seen;
  };

  Listener listener;
  const auto detector = make_detector();
  Ordering ordering(*detector, {.observer = &listener});
  LaunchInfo info{.id = LaunchId{1}};
  ordering.begin_launch(info);
  ordering.begin_copy(free_of(1, {LaunchId{1}}));
  CopyInfo taken = allocation(2, {});
  taken.freed_by = {CopyId{1}, CopyId{7}};
  ordering.begin_copy(taken);
  info.id = LaunchId{2};
  info.ordered_after = {CopyId{2}};
  ordering.begin_launch(info);
  CHECK(listener.seen == std::vector<WorkId>{LaunchId{1}});
  ordering.end_launch(LaunchId{1});
  CHECK(listener.seen == std::vector<WorkId>{LaunchId{1}, CopyId{1}, CopyId{2}, LaunchId{2}});
  ordering.end_launch(LaunchId{2});
}

}  // namespace barracuda::detector::test

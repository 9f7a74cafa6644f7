// A block of a cluster exits, and its shared memory with it.
#include <catch2/catch.hpp>

#include "tests/unit/host_detector/async_scenario.h"

namespace barracuda::detector::test {
namespace {

constexpr Who kOwner{.cta = 0}, kOther{.cta = 1};

class ExitScenario : public AsyncScenario {
 public:
  explicit ExitScenario(std::uint32_t threads = 1) : AsyncScenario(2, threads, 2) {}

  void meet() {
    cluster_arrive(kOwner);
    cluster_arrive(kOther);
    cluster_wait(kOwner);
    cluster_wait(kOther);
  }

  [[nodiscard]] bool is_use_after_exit() const {
    return has_only(Severity::kError) && races()[0].kind == RaceKind::kUseAfterExit;
  }
};

}  // namespace

TEST_CASE("a block must not exit before others have used its shared memory") {
  for (const bool meets : {true, false}) {
    for (const bool exits_first : {true, false}) {
      if (meets && exits_first) {
        continue;  // that cannot be
      }
      ExitScenario scenario;
      SiteId use{}, exit{};
      const auto leave = [&] { exit = scenario.event(kOwner, {.operation = Operation::kExit}); };
      if (exits_first) {
        leave();
      }
      use = scenario.read(kOther, shared_of(0, 16));
      if (meets) {
        scenario.meet();
      }
      if (!exits_first) {
        leave();
      }
      if (meets) {
        CHECK(scenario.is_clean());
        continue;
      }
      REQUIRE(scenario.is_use_after_exit());
      const RaceEvent& race = scenario.races()[0];
      CHECK((exits_first ? race.second : race.first).site == use);
      CHECK((exits_first ? race.first : race.second).site == exit);
      CHECK((exits_first ? race.first : race.second).thread.cta == 0);
    }
  }
}

TEST_CASE(
    "it is the last thread of a block that ends its memory, and any of them may know of a use") {
  for (const bool last_knows : {true, false}) {
    ExitScenario scenario(2);
    constexpr Who kFirst{.cta = 0, .mask = 1}, kSecond{.cta = 0, .mask = 2};
    scenario.write(kOther, shared_of(0, 16));
    scenario.store(kOther, word(Operation::kWrite, MemoryOrder::kRelease, Scope::kCluster), kFlag,
                   1);
    scenario.load(last_knows ? kSecond : kFirst,
                  word(Operation::kRead, MemoryOrder::kAcquire, Scope::kCluster), kFlag, 1);
    scenario.exit(kFirst);
    CHECK(scenario.is_clean());
    scenario.exit(kSecond);
    CHECK(scenario.is_clean());
  }
}

TEST_CASE("every lane that uses the memory must be known") {
  ExitScenario scenario(2);
  constexpr Who kFirst{.cta = 1, .mask = 1}, kBoth{.cta = 1, .mask = 3};
  scenario.read(kBoth, shared_of(0, 0), 4);
  scenario.store(kFirst, word(Operation::kWrite, MemoryOrder::kRelease, Scope::kCluster), kFlag, 1);
  scenario.load({.cta = 0, .mask = 1},
                word(Operation::kRead, MemoryOrder::kAcquire, Scope::kCluster), kFlag, 1);
  scenario.exit({.cta = 0, .mask = 3});
  REQUIRE(scenario.is_use_after_exit());
  CHECK(scenario.races()[0].first.thread.lane == 1);
  CHECK(scenario.races()[0].first.address == 4);
}

TEST_CASE("what another block arrives at or copies to is known by the phase") {
  for (const bool waits : {true, false}) {
    ExitScenario scenario;
    scenario.init(kOwner, 1);
    scenario.meet();
    scenario.mbarrier(kOther, Operation::kMbarrierArrive, shared_of(0, kMbarrier), 1, 16,
                      Scope::kCluster);
    scenario.bulk(kOther, shared_of(0, 0), kData, 16, shared_of(0, kMbarrier));
    if (waits) {
      scenario.mbarrier(kOwner, Operation::kMbarrierWait, shared(kMbarrier), 0, 0, Scope::kCluster);
    }
    scenario.exit(kOwner);
    CHECK(scenario.detector.rejected() == 0);
    CHECK(scenario.races().empty() == waits);
  }
  ExitScenario late;
  late.init(kOwner, 1);
  late.exit(kOwner);
  late.mbarrier(kOther, Operation::kMbarrierArrive, shared_of(0, kMbarrier), 1);
  CHECK(late.is_use_after_exit());
}

TEST_CASE("a block's own memory is its own, and other memory outlives it") {
  ExitScenario scenario;
  scenario.write(kOwner, shared(0));
  scenario.write(kOther, kData);
  scenario.exit(kOwner);
  scenario.write(kOther, shared(0));
  scenario.exit(kOther);
  CHECK(scenario.is_clean());
}

}  // namespace barracuda::detector::test

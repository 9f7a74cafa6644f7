// What a race says of the order that is missing: each reason, and the nearest case that is another.
#include <catch2/catch.hpp>

#include "tests/unit/host_detector/async_scenario.h"

namespace barracuda::detector::test {
namespace {

const SiteInfo kAtomic = word(Operation::kAtomic, MemoryOrder::kRelaxed, Scope::kGpu);
const SiteInfo kBlockAtomic = word(Operation::kAtomic, MemoryOrder::kRelaxed, Scope::kCta);
const SiteInfo kRelaxedStore = word(Operation::kWrite, MemoryOrder::kRelaxed, Scope::kGpu);
const SiteInfo kRelaxedLoad = word(Operation::kRead, MemoryOrder::kRelaxed, Scope::kGpu);
const SiteInfo kAcquireLoad = word(Operation::kRead, MemoryOrder::kAcquire, Scope::kGpu);
const SiteInfo kReleaseStore = word(Operation::kWrite, MemoryOrder::kRelease, Scope::kGpu);

constexpr Who kBlock0{.cta = 0}, kBlock1{.cta = 1}, kBlock2{.cta = 2};
constexpr Who kWarp0{.warp = 0}, kWarp1{.warp = 1};
constexpr Who kAllOf0{.warp = 0, .mask = kAll}, kAllOf1{.warp = 1, .mask = kAll};

SiteInfo plain_poll() {
  SiteInfo site = word(Operation::kRead);
  site.poll = true;
  site.idiom_scope = Scope::kGpu;
  return site;
}

// The only race is one of kData.
const RaceEvent& race_of_data(const Scenario& scenario) {
  const RaceEvent* found = nullptr;
  for (const RaceEvent& race : scenario.races()) {
    if (race.second.address == kData) {
      CHECK(found == nullptr);
      found = &race;
    }
  }
  REQUIRE(found != nullptr);
  return *found;
}

}  // namespace

TEST_CASE("a flag of block scope whose reader does not fence lacks that fence, not a wider scope") {
  for (const bool fences : {false, true}) {
    Scenario scenario(1, 64);
    scenario.write(kWarp0, kData);
    scenario.fence(kWarp0, Scope::kCta);
    scenario.atomic(kWarp0, kBlockAtomic, kFlag, 0, 1);
    scenario.atomic(kWarp1, kBlockAtomic, kFlag, 1, 1);
    if (fences) {
      scenario.fence(kWarp1, Scope::kCta);
    }
    scenario.read(kWarp1, kData);
    REQUIRE(scenario.races().size() == (fences ? 0 : 1));
    if (!fences) {
      CHECK(race_of_data(scenario).missing == MissingOrder::kAcquireFenceMissing);
    }
  }
}

TEST_CASE("what another warp of the block saw explains nothing, unless a barrier handed it on") {
  for (const bool meets : {false, true}) {
    Scenario scenario(2, 64);
    scenario.write(kBlock0, kData);
    const SiteId flag = scenario.store(kBlock0, kRelaxedStore, kFlag, 1);
    const Who saw{.cta = 1, .warp = 0, .mask = kAll}, reads{.cta = 1, .warp = 1, .mask = kAll};
    scenario.load(saw, kRelaxedLoad, kFlag, 1);
    scenario.fence(saw, Scope::kGpu);
    if (meets) {
      scenario.barrier(saw);
      scenario.barrier(reads);
    }
    scenario.read(reads, kData);
    const RaceEvent& race = race_of_data(scenario);
    CHECK(race.missing ==
          (meets ? MissingOrder::kReleaseFenceMissing : MissingOrder::kNoSynchronisation));
    CHECK(race.about == (meets ? std::optional(flag) : std::nullopt));
  }
}

TEST_CASE("where neither side fences both fences are missing") {
  Scenario scenario(2, 1);
  scenario.read(kBlock0, kData);
  const SiteId flag = scenario.atomic(kBlock0, kAtomic, kFlag, 0, 1);
  scenario.atomic(kBlock1, kAtomic, kFlag, 1, 1);
  scenario.write(kBlock1, kData);
  CHECK(race_of_data(scenario).missing == MissingOrder::kFencesMissing);
  CHECK(race_of_data(scenario).about == flag);
}

TEST_CASE("an atomic that comes before the access publishes nothing of it") {
  for (const bool fences : {false, true}) {
    Scenario scenario(2, 1);
    SiteId fence{};
    if (fences) {
      fence = scenario.event(
          kBlock0,
          {.operation = Operation::kFence, .order = MemoryOrder::kAcqRel, .scope = Scope::kGpu});
    }
    scenario.atomic(kBlock0, kAtomic, kFlag, 0, 1);
    scenario.write(kBlock0, kData);
    scenario.atomic(kBlock1, kAtomic, kFlag, 1, 1);
    scenario.fence(kBlock1, Scope::kGpu);
    scenario.read(kBlock1, kData);
    const RaceEvent& race = race_of_data(scenario);
    CHECK(race.missing ==
          (fences ? MissingOrder::kAfterRelease : MissingOrder::kNoSynchronisation));
    CHECK(race.about == (fences ? std::optional(fence) : std::nullopt));
  }
}

TEST_CASE("who publishes for its block has to know of what the block did") {
  // The flag's store stands behind the write in the text, or before it.
  for (const bool is_behind : {false, true}) {
    Scenario scenario(2, 64);
    const Who other{.cta = 0, .warp = 1};
    SiteId flag{};
    const auto publish = [&] { flag = scenario.store(kBlock0, kReleaseStore, kFlag, 1); };
    is_behind ? void() : publish();
    scenario.write(other, kData);
    is_behind ? publish() : void();
    scenario.load(kBlock1, kAcquireLoad, kFlag, 1);
    scenario.read(kBlock1, kData);
    CHECK(race_of_data(scenario).missing ==
          (is_behind ? MissingOrder::kBlockBarrierMissing : MissingOrder::kNoSynchronisation));
    CHECK(race_of_data(scenario).about == (is_behind ? std::optional(flag) : std::nullopt));
  }
}

TEST_CASE("who does not acquire what another thread of a block published lacks that as well") {
  Scenario scenario(2, 64);
  scenario.write({.cta = 0, .warp = 1}, kData);
  scenario.store(kBlock0, kReleaseStore, kFlag, 1);
  scenario.load(kBlock1, kRelaxedLoad, kFlag, 1);
  scenario.read(kBlock1, kData);
  CHECK(race_of_data(scenario).missing == MissingOrder::kNoSynchronisation);
}

TEST_CASE("lanes of one store are not explained by tickets that they drew before") {
  Scenario scenario(1, 32);
  scenario.atomic({.mask = 1}, kAtomic, kFlag, 0, 1);
  scenario.atomic({.mask = 2}, kAtomic, kFlag, 1, 2);
  scenario.write({.mask = 3}, kData);
  CHECK(race_of_data(scenario).missing == MissingOrder::kNoSynchronisation);
}

TEST_CASE("who hands on what it has not acquired is named") {
  Scenario scenario(3, 1);
  scenario.write(kBlock0, kData);
  scenario.store(kBlock0, kReleaseStore, kFlag, 1);
  scenario.load(kBlock1, kRelaxedLoad, kFlag, 1);
  const SiteId link = scenario.store(kBlock1, kReleaseStore, kFlag + 4, 1);
  scenario.load(kBlock2, kAcquireLoad, kFlag + 4, 1);
  scenario.read(kBlock2, kData);
  CHECK(race_of_data(scenario).missing == MissingOrder::kLinkFenceMissing);
  CHECK(race_of_data(scenario).about == link);
}

TEST_CASE("fences of the right scope around a plain poll lack a stronger load") {
  Scenario scenario(2, 1);
  scenario.write(kBlock0, kData);
  scenario.fence(kBlock0, Scope::kGpu);
  scenario.atomic(kBlock0, kAtomic, kFlag, 0, 1);
  const SiteId poll = scenario.load(kBlock1, plain_poll(), kFlag, 1);
  scenario.fence(kBlock1, Scope::kGpu);
  scenario.read(kBlock1, kData);
  CHECK(race_of_data(scenario).missing == MissingOrder::kPollTooWeak);
  CHECK(race_of_data(scenario).about == poll);
}

TEST_CASE("who fails to take a lock must wait, who fails to clear a flag has seen it") {
  for (const bool is_lock : {true, false}) {
    Scenario scenario(2, 1);
    scenario.write(kBlock0, kData);
    scenario.fence(kBlock0, Scope::kGpu);
    SiteId site = scenario.atomic(kBlock0, kAtomic, kFlag, 0, 1);
    if (is_lock) {
      scenario.atomic_again(kBlock1, site, kFlag, 1, std::nullopt);
    } else {
      site = scenario.atomic(kBlock1, kAtomic, kFlag, 1, std::nullopt);
    }
    scenario.read(kBlock1, kData);
    const RaceEvent& race = race_of_data(scenario);
    CHECK(race.missing ==
          (is_lock ? MissingOrder::kLockNotTaken : MissingOrder::kAcquireFenceMissing));
  }
}

TEST_CASE("no lock is missed by who goes on with an atomic after a compare-and-swap that failed") {
  Scenario scenario;
  scenario.launch(2, 1);
  scenario.write(kBlock0, kData);
  const SiteId site = scenario.atomic(kBlock0, kAtomic, kFlag, 0, 1);
  scenario.atomic_again(kBlock1, site, kFlag, 1, std::nullopt);
  scenario.atomic(kBlock1, kAtomic, kData, 0, 1);
  CHECK(race_of_data(scenario).missing != MissingOrder::kLockNotTaken);
}

TEST_CASE("a narrow fence is blamed for what it left, and not for what was seen after it") {
  for (const bool is_after : {false, true}) {
    Scenario scenario(2, 1);
    scenario.write(kBlock0, kData + 4);
    scenario.fence(kBlock0, Scope::kGpu);
    scenario.atomic(kBlock0, kAtomic, kFlag, 0, 1);
    scenario.atomic(kBlock1, kAtomic, kFlag, 1, 1);
    scenario.fence(kBlock1, Scope::kCta);
    scenario.write(kBlock0, kData);
    scenario.fence(kBlock0, Scope::kGpu);
    scenario.atomic(kBlock0, kAtomic, kFlag + 4, 0, 1);
    if (is_after) {
      scenario.atomic(kBlock1, kAtomic, kFlag + 4, 1, 1);
      scenario.read(kBlock1, kData);
      CHECK(race_of_data(scenario).missing == MissingOrder::kAcquireFenceMissing);
    } else {
      scenario.read(kBlock1, kData + 4);
      REQUIRE(scenario.races().size() == 1);
      CHECK(scenario.races()[0].missing == MissingOrder::kScopeTooNarrow);
    }
  }
}

TEST_CASE("a warp barrier whose mask leaves the other lane out is named") {
  for (const std::uint32_t members : {0b0110U, 0b0011U}) {
    Scenario scenario(1, 32);
    scenario.write({.mask = 1}, kData);
    scenario.sync_warp({.mask = members}, members);
    scenario.read({.mask = 2}, kData);
    REQUIRE(scenario.races().size() == (members == 3 ? 0 : 1));
    if (members != 3) {
      CHECK(race_of_data(scenario).missing == MissingOrder::kWarpMaskTooNarrow);
    }
  }
}

TEST_CASE(
    "a barrier of one warp leaves the other out; a barrier of all that is not reached does not") {
  for (const std::uint32_t threads : {32U, 0U}) {
    Scenario scenario(1, 64);
    scenario.write(kWarp0, kData);
    scenario.barrier(kAllOf0, threads == 0 ? 0 : 1, threads);
    scenario.read(kWarp1, kData);
    CHECK(race_of_data(scenario).missing ==
          (threads == 0 ? MissingOrder::kNoSynchronisation : MissingOrder::kBarrierLeavesOut));
  }
}

TEST_CASE("a barrier of some warps is named as well where who was at it comes first") {
  for (const bool is_first : {false, true}) {
    Scenario scenario(1, 64);
    scenario.barrier(kAllOf0, 1, 32);
    if (is_first) {
      scenario.read(kWarp0, kData);
      scenario.write(kWarp1, kData);
    } else {
      scenario.write(kWarp1, kData);
      scenario.read(kWarp0, kData);
    }
    CHECK(race_of_data(scenario).missing == MissingOrder::kBarrierLeavesOut);
  }
}

TEST_CASE("warps that meet at a barrier of their own lack another one of it") {
  Scenario scenario(1, 96);
  scenario.barrier(kAllOf0, 1, 64);
  scenario.barrier(kAllOf1, 1, 64);
  scenario.read(kWarp0, kData);
  scenario.write(kWarp1, kData);
  CHECK(race_of_data(scenario).missing == MissingOrder::kNamedBarrierMissing);
}

TEST_CASE("an arrival does not wait, and what follows it is not handed over") {
  for (const bool is_second : {true, false}) {
    Scenario scenario(1, 64);
    if (is_second) {
      scenario.write(kWarp0, kData);
      scenario.barrier_arrive(kAllOf1, 1, 64);
    } else {
      scenario.barrier_arrive(kAllOf0, 1, 64);
      scenario.write(kWarp0, kData);
      scenario.barrier(kAllOf1, 1, 64);
    }
    scenario.read(kWarp1, kData);
    CHECK(race_of_data(scenario).missing ==
          (is_second ? MissingOrder::kArrivalDoesNotWait : MissingOrder::kAfterArrival));
  }
}

TEST_CASE("a wait at one named barrier is not for the arrival at another") {
  Scenario scenario(1, 64);
  scenario.barrier_arrive(kAllOf0, 2, 64);
  scenario.barrier_arrive(kAllOf0, 1, 64);
  scenario.write(kWarp0, kData);
  scenario.barrier(kAllOf1, 2, 64);
  scenario.read(kWarp1, kData);
  CHECK(race_of_data(scenario).missing == MissingOrder::kArrivalDoesNotWait);
}

TEST_CASE(
    "an access behind the arrival that was waited for is told from a wait that was too early") {
  for (const std::uint64_t next : {kMbarrier + 8, kMbarrier}) {
    AsyncScenario scenario(1, 64);
    for (const std::uint64_t mbarrier : {kMbarrier, kMbarrier + 8}) {
      scenario.mbarrier(kWarp0, Operation::kMbarrierInit, shared(mbarrier), 1);
    }
    scenario.barrier(kAllOf0);
    scenario.barrier(kAllOf1);
    scenario.mbarrier(kWarp0, Operation::kMbarrierArrive, shared(kMbarrier), 1);
    scenario.write(kWarp0, kData);
    scenario.mbarrier(kWarp0, Operation::kMbarrierArrive, shared(next), 1);
    scenario.mbarrier(kWarp1, Operation::kMbarrierWait, shared(kMbarrier), 0);
    scenario.read(kWarp1, kData);
    const MissingOrder missing = race_of_data(scenario).missing;
    CHECK(missing == (next == kMbarrier ? MissingOrder::kWrongPhase : MissingOrder::kAfterArrival));
  }
}

TEST_CASE("lanes that look at a flag each lack the fence behind theirs, the first one as well") {
  Scenario scenario(2, 32);
  scenario.write(kBlock0, kData);
  scenario.atomic(kBlock0, kAtomic, kFlag, 0, 1);
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    const std::uint64_t seen = lane == 0 ? 1 : 0;
    scenario.atomic({.cta = 1, .mask = std::uint32_t{1} << lane}, kAtomic, kFlag + 16 * lane, seen,
                    seen);
  }
  scenario.fence({.cta = 1, .mask = kAll}, Scope::kGpu);
  scenario.read(kBlock1, kData);
  CHECK(race_of_data(scenario).missing == MissingOrder::kReleaseFenceMissing);
}

TEST_CASE("a wait at one mbarrier is not for the arrival at another") {
  AsyncScenario scenario(1, 64);
  for (const std::uint64_t mbarrier : {kMbarrier, kMbarrier + 8}) {
    scenario.mbarrier(kWarp0, Operation::kMbarrierInit, shared(mbarrier), 2);
  }
  scenario.barrier(kAllOf0);
  scenario.barrier(kAllOf1);
  scenario.mbarrier(kWarp0, Operation::kMbarrierArrive, shared(kMbarrier + 8), 1);
  scenario.write(kWarp0, kData);
  scenario.mbarrier({.warp = 1, .mask = 2}, Operation::kMbarrierArrive, shared(kMbarrier), 1);
  scenario.mbarrier({.warp = 1, .mask = 4}, Operation::kMbarrierArrive, shared(kMbarrier), 1);
  scenario.mbarrier(kWarp1, Operation::kMbarrierWait, shared(kMbarrier), 0);
  scenario.read(kWarp1, kData);
  CHECK(race_of_data(scenario).missing == MissingOrder::kArrivalDoesNotWait);
}

}  // namespace barracuda::detector::test

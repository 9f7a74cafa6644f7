// Each rule of RACE_RULES.md with its twin: what it orders or excuses, and the nearest thing it
// does not.
#include <algorithm>

#include <catch2/catch.hpp>

#include "tests/unit/host_detector/scenario.h"

namespace barracuda::detector::test {
namespace {

const SiteInfo kRelaxedAtomic = word(Operation::kAtomic, MemoryOrder::kRelaxed, Scope::kGpu);
const SiteInfo kRelaxedStore = word(Operation::kWrite, MemoryOrder::kRelaxed, Scope::kGpu);
const SiteInfo kRelaxedLoad = word(Operation::kRead, MemoryOrder::kRelaxed, Scope::kGpu);
const SiteInfo kReleaseStore = word(Operation::kWrite, MemoryOrder::kRelease, Scope::kGpu);
const SiteInfo kAcquireLoad = word(Operation::kRead, MemoryOrder::kAcquire, Scope::kGpu);
const SiteInfo kVolatileStore = word(Operation::kWrite, MemoryOrder::kVolatile);
const SiteInfo kVolatileLoad = word(Operation::kRead, MemoryOrder::kVolatile);

constexpr Who kFirst{.cta = 0};
constexpr Who kSecond{.cta = 1};

SiteInfo flag_store(MemoryOrder order, Scope fence) {
  SiteInfo site = word(Operation::kWrite, order);
  site.flag_store = true;
  site.idiom_scope = fence;
  return site;
}

SiteInfo poll(MemoryOrder order, Scope fence) {
  SiteInfo site = word(Operation::kRead, order);
  site.poll = true;
  site.idiom_scope = fence;
  return site;
}

}  // namespace

TEST_CASE("two unordered accesses race if one writes, and not if both read") {
  Scenario writes, reads;
  writes.launch(2, 1);
  const SiteId store = writes.write(kFirst, kData);
  const SiteId load = writes.read(kSecond, kData);
  REQUIRE(writes.has_only(Severity::kError));
  const RaceEvent& race = writes.races()[0];
  CHECK(race.kind == RaceKind::kInterBlock);
  CHECK(race.missing == MissingOrder::kNoSynchronisation);
  CHECK(race.first.site == store);
  CHECK(race.second.site == load);
  CHECK(race.second.address == kData);
  CHECK(race.second.size == 4);
  CHECK(race.first.thread == ThreadRef{.launch = LaunchId{1}, .cta = 0});
  CHECK(race.second.thread == ThreadRef{.launch = LaunchId{1}, .cta = 1});
  reads.launch(2, 1);
  reads.read(kFirst, kData);
  reads.read(kSecond, kData);
  CHECK(reads.is_clean());
}

TEST_CASE("accesses race if they share a byte, and not if they are neighbours") {
  SiteInfo byte = word(Operation::kWrite);
  byte.element_bytes = 1;
  for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{3}, std::uint64_t{4}}) {
    Scenario scenario(2, 1);
    scenario.write(kFirst, kData);
    scenario.access(kSecond, byte, kData + offset);
    CHECK(scenario.races().size() == (offset < 4 ? 1 : 0));
  }
}

TEST_CASE("a vector access is its elements") {
  SiteInfo vector = word(Operation::kWrite);
  vector.element_count = 4;
  Scenario scenario(2, 1);
  scenario.access(kFirst, vector, kData);
  scenario.read(kSecond, kData + 8);
  REQUIRE(scenario.has_only(Severity::kError));
  CHECK(scenario.races()[0].first.address == kData + 8);
  CHECK(scenario.races()[0].first.size == 4);
}

TEST_CASE("a block barrier orders its warps, and a barrier of another number does not") {
  for (const std::uint32_t id : {0U, 1U}) {
    Scenario scenario(1, 64);
    const Who first{.warp = 0, .mask = kAll}, second{.warp = 1, .mask = kAll};
    scenario.write(first, shared(0), 4);
    scenario.barrier(first, 0, id == 0 ? 0 : 32);
    scenario.barrier(second, id, id == 0 ? 0 : 32);
    scenario.read(second, shared(0), 4);
    CHECK(scenario.races().size() == id);
  }
}

TEST_CASE("a barrier of some warps orders those only") {
  Scenario scenario(1, 96);
  scenario.write({.warp = 0}, kData);
  scenario.write({.warp = 2}, kFlag);
  scenario.barrier_arrive({.warp = 0, .mask = kAll}, 3, 64);
  scenario.barrier({.warp = 1, .mask = kAll}, 3, 64);
  scenario.read({.warp = 1}, kData);
  CHECK(scenario.is_clean());
  scenario.read({.warp = 1}, kFlag);
  CHECK(scenario.races().size() == 1);
}

TEST_CASE("one that arrives and does not wait gives and does not take") {
  Scenario scenario(1, 64);
  scenario.write({.warp = 1}, kData);
  scenario.barrier_arrive({.warp = 0, .mask = kAll}, 1, 64);
  scenario.barrier({.warp = 1, .mask = kAll}, 1, 64);
  scenario.read({.warp = 0}, kData);
  CHECK(scenario.has_only(Severity::kError));
}

TEST_CASE("threads that left count as arrived at a barrier and give nothing") {
  Scenario scenario(1, 64);
  scenario.write({.warp = 0}, kData);
  scenario.exit({.warp = 0, .mask = 1});
  scenario.barrier({.warp = 0, .mask = kAll & ~1U});
  scenario.barrier({.warp = 1, .mask = kAll});
  scenario.write({.warp = 1}, kData + 4);
  scenario.barrier({.warp = 0, .mask = kAll & ~1U});
  scenario.barrier({.warp = 1, .mask = kAll});
  scenario.read({.warp = 0, .mask = 2}, kData + 4);
  CHECK(scenario.is_clean());
  scenario.read({.warp = 1}, kData);
  CHECK(scenario.has_only(Severity::kError));
}

TEST_CASE("lanes of a warp are ordered by a warp barrier and by nothing else") {
  for (const bool synchronises : {true, false}) {
    Scenario scenario(1, 32);
    scenario.write({.mask = 1}, shared(0));
    if (synchronises) {
      scenario.sync_warp({.mask = 3}, 3);
    }
    scenario.read({.mask = 2}, shared(0));
    REQUIRE(scenario.races().size() == (synchronises ? 0 : 1));
    if (!synchronises) {
      CHECK(scenario.races()[0].kind == RaceKind::kIntraWarp);
    }
  }
}

TEST_CASE("a warp barrier that lanes reach one after another opens with the last") {
  Scenario scenario(1, 32);
  scenario.write({.mask = 1}, shared(0));
  scenario.write({.mask = 4}, shared(8));
  scenario.sync_warp({.mask = 1}, 3);
  scenario.sync_warp({.mask = 4}, 0xC);
  scenario.sync_warp({.mask = 2}, 3);
  scenario.read({.mask = 2}, shared(0));
  CHECK(scenario.is_clean());
  scenario.read({.mask = 2}, shared(8));
  CHECK(scenario.has_only(Severity::kError));
}

TEST_CASE("fences on both sides of a flag order, and one of them does not") {
  for (const auto& [release, acquire, missing] :
       {std::tuple{true, true, MissingOrder::kNoSynchronisation},
        std::tuple{false, true, MissingOrder::kReleaseFenceMissing},
        std::tuple{true, false, MissingOrder::kAcquireFenceMissing}}) {
    Scenario scenario(2, 1);
    scenario.write(kFirst, kData);
    if (release) {
      scenario.fence(kFirst, Scope::kGpu);
    }
    scenario.store(kFirst, kRelaxedStore, kFlag, 1);
    scenario.load(kSecond, kRelaxedLoad, kFlag, 1);
    if (acquire) {
      scenario.fence(kSecond, Scope::kGpu);
    }
    scenario.read(kSecond, kData);
    REQUIRE(scenario.races().size() == (release && acquire ? 0 : 1));
    if (!scenario.races().empty()) {
      CHECK(scenario.races()[0].missing == missing);
    }
  }
}

TEST_CASE("a fence covers only what precedes it") {
  Scenario scenario(2, 1);
  scenario.fence(kFirst, Scope::kGpu);
  scenario.write(kFirst, kData);
  scenario.store(kFirst, kRelaxedStore, kFlag, 1);
  scenario.load(kSecond, kRelaxedLoad, kFlag, 1);
  scenario.fence(kSecond, Scope::kGpu);
  scenario.read(kSecond, kData);
  REQUIRE(scenario.has_only(Severity::kError));
  CHECK(scenario.races()[0].missing == MissingOrder::kReleaseFenceMissing);
}

TEST_CASE("release and acquire accesses order, and a relaxed one of the two does not") {
  for (const auto& [store, load] :
       {std::pair{kReleaseStore, kAcquireLoad}, std::pair{kRelaxedStore, kAcquireLoad},
        std::pair{kReleaseStore, kRelaxedLoad}}) {
    Scenario scenario(2, 1);
    scenario.write(kFirst, kData);
    scenario.store(kFirst, store, kFlag, 1);
    scenario.load(kSecond, load, kFlag, 1);
    scenario.read(kSecond, kData);
    const bool both = store == kReleaseStore && load == kAcquireLoad;
    CHECK(scenario.races().size() == (both ? 0 : 1));
  }
}

TEST_CASE("an acquire that did not see the release takes nothing") {
  Scenario scenario(2, 1);
  scenario.write(kFirst, kData);
  scenario.store(kFirst, kReleaseStore, kFlag, 1);
  scenario.load(kSecond, kAcquireLoad, kFlag, 0);
  scenario.read(kSecond, kData);
  CHECK(scenario.has_only(Severity::kError));
}

TEST_CASE("atomics hand a release on") {
  Scenario scenario(3, 1);
  scenario.write(kFirst, kData);
  scenario.store(kFirst, kReleaseStore, kFlag, 1);
  scenario.atomic(kSecond, kRelaxedAtomic, kFlag, 1, 2);
  scenario.load({.cta = 2}, kAcquireLoad, kFlag, 2);
  scenario.read({.cta = 2}, kData);
  CHECK(scenario.is_clean());
  scenario.read(kSecond, kData);  // relaxed: handed on, not taken
  CHECK(scenario.has_only(Severity::kError));
}

TEST_CASE("records of atomics may come in another order than they happened") {
  Scenario scenario(3, 1);
  scenario.write(kFirst, kData);
  scenario.atomic(kSecond, kRelaxedAtomic, kFlag, 1, 2);
  scenario.atomic(kFirst, word(Operation::kAtomic, MemoryOrder::kRelease, Scope::kGpu), kFlag, 0,
                  1);
  scenario.load({.cta = 2}, kAcquireLoad, kFlag, 2);
  scenario.read({.cta = 2}, kData);
  CHECK(scenario.is_clean());
}

TEST_CASE("both scopes must include the other thread") {
  for (const auto& [store, load, needed] :
       {std::tuple{Scope::kGpu, Scope::kGpu, false}, std::tuple{Scope::kCta, Scope::kGpu, true},
        std::tuple{Scope::kGpu, Scope::kCta, true}}) {
    Scenario scenario(2, 1);
    scenario.write(kFirst, kData);
    scenario.fence(kFirst, store);
    scenario.store(kFirst, kRelaxedStore, kFlag, 1);
    scenario.load(kSecond, kRelaxedLoad, kFlag, 1);
    scenario.fence(kSecond, load);
    scenario.read(kSecond, kData);
    REQUIRE(scenario.races().size() == (needed ? 1 : 0));
    if (needed) {
      CHECK(scenario.races()[0].missing == MissingOrder::kScopeTooNarrow);
      CHECK(scenario.races()[0].needed_scope == Scope::kGpu);
    }
  }
}

TEST_CASE("a fence for the block orders within the block") {
  Scenario scenario(1, 64);
  scenario.write({.warp = 0}, kData);
  scenario.fence({.warp = 0}, Scope::kCta);
  scenario.store({.warp = 0}, kRelaxedStore, kFlag, 1);
  scenario.load({.warp = 1}, kRelaxedLoad, kFlag, 1);
  scenario.fence({.warp = 1}, Scope::kCta);
  scenario.read({.warp = 1}, kData);
  CHECK(scenario.is_clean());
}

TEST_CASE("a fence before a barrier is a release of the whole block by its leader") {
  Scenario scenario(2, 64);
  for (const std::uint8_t warp : {std::uint8_t{0}, std::uint8_t{1}}) {
    scenario.write({.warp = warp, .mask = kAll}, kData + warp * 128U, 4);
    scenario.fence({.warp = warp, .mask = kAll}, Scope::kGpu);
    scenario.barrier({.warp = warp, .mask = kAll});
  }
  scenario.atomic({.warp = 0}, kRelaxedAtomic, kFlag, 0, 1);
  scenario.atomic({.cta = 1}, kRelaxedAtomic, kFlag, 1, 2);
  scenario.fence({.cta = 1}, Scope::kGpu);
  scenario.barrier({.cta = 1, .warp = 0, .mask = kAll});
  scenario.barrier({.cta = 1, .warp = 1, .mask = kAll});
  scenario.read({.cta = 1, .warp = 1, .mask = kAll}, kData, 4);
  scenario.read({.cta = 1, .warp = 0, .mask = kAll}, kData + 128, 4);
  CHECK(scenario.is_clean());
}

TEST_CASE("the block that drew the last ticket may reset the counter with a plain store") {
  for (const bool is_last : {true, false}) {
    Scenario scenario(3, 1);
    scenario.atomic(kFirst, kRelaxedAtomic, kFlag, 0, 1);
    scenario.atomic(kSecond, kRelaxedAtomic, kFlag, 1, 2);
    scenario.write(is_last ? kSecond : Who{.cta = 2}, kFlag);
    CHECK(scenario.races().empty() == is_last);
  }
}

TEST_CASE(
    "atomics do not race with each other, unless their scopes are too narrow or their sizes "
    "differ") {
  const SiteInfo narrow = word(Operation::kAtomic, MemoryOrder::kRelaxed, Scope::kCta);
  SiteInfo wide = kRelaxedAtomic;
  wide.element_bytes = 8;
  Scenario same, scopes, sizes, within;
  for (Scenario* scenario : {&same, &scopes, &sizes, &within}) {
    scenario->launch(2, 64);
  }
  same.atomic(kFirst, kRelaxedAtomic, kFlag, 0, 1);
  same.atomic(kSecond, kRelaxedAtomic, kFlag, 1, 2);
  CHECK(same.is_clean());
  scopes.atomic(kFirst, narrow, kFlag, 0, 1);
  scopes.atomic(kSecond, kRelaxedAtomic, kFlag, 1, 2);
  REQUIRE(scopes.has_only(Severity::kError));
  CHECK(scopes.races()[0].missing == MissingOrder::kAtomicScopeTooNarrow);
  within.atomic({.warp = 0}, narrow, kFlag, 0, 1);
  within.atomic({.warp = 1}, narrow, kFlag, 1, 2);
  CHECK(within.is_clean());
  sizes.atomic(kFirst, kRelaxedAtomic, kFlag, 0, 1);
  sizes.atomic(kSecond, wide, kFlag, 1, 2);
  REQUIRE(sizes.has_only(Severity::kError));
  CHECK(sizes.races()[0].missing == MissingOrder::kMixedSize);
}

TEST_CASE("volatile stores are warned of, and volatile loads against atomics are not") {
  Scenario stores, loads;
  stores.launch(2, 1);
  stores.store(kFirst, kVolatileStore, kFlag, 1);
  stores.load(kSecond, kVolatileLoad, kFlag, 1);
  CHECK(stores.has_only(Severity::kWarning));
  loads.launch(2, 1);
  loads.atomic(kFirst, kRelaxedAtomic, kFlag, 0, 1);
  loads.load(kSecond, kVolatileLoad, kFlag, 1);
  CHECK(loads.is_clean());
}

TEST_CASE("a load that some lanes drop is warned of, and hides none that all of them use") {
  SiteInfo speculated = word(Operation::kRead);
  speculated.speculated = true;
  Scenario alone, both;
  alone.launch(2, 1);
  alone.access(kFirst, speculated, kData);
  alone.write(kSecond, kData);
  REQUIRE(alone.has_only(Severity::kWarning));
  CHECK(alone.races()[0].missing == MissingOrder::kSpeculatedRead);
  both.launch(2, 1);
  both.access(kFirst, word(Operation::kRead), kData);
  both.access(kFirst, speculated, kData);
  both.write(kSecond, kData);
  CHECK(std::ranges::any_of(
      both.races(), [](const RaceEvent& race) { return race.severity == Severity::kError; }));
}

TEST_CASE("a flag store and a poll synchronise, and each against anything else is what it is") {
  for (const MemoryOrder order : {MemoryOrder::kWeak, MemoryOrder::kVolatile}) {
    Scenario pair, other;
    for (Scenario* scenario : {&pair, &other}) {
      scenario->launch(2, 1);
      scenario->write(kFirst, kData);
      scenario->fence(kFirst, Scope::kGpu);
      scenario->store(kFirst, flag_store(order, Scope::kGpu), kFlag, 1);
    }
    pair.load(kSecond, poll(order, Scope::kGpu), kFlag, 1);
    pair.fence(kSecond, Scope::kGpu);
    pair.read(kSecond, kData);
    CHECK(pair.is_clean());
    other.read(kSecond, kFlag);
    CHECK(other.has_only(Severity::kError));
  }
}

TEST_CASE("a poll of more bytes than the flag store is no pair with it") {
  for (const MemoryOrder order : {MemoryOrder::kWeak, MemoryOrder::kVolatile}) {
    for (const bool flag_first : {true, false}) {
      SiteInfo half = flag_store(order, Scope::kGpu);
      half.element_bytes = 2;
      Scenario scenario(2, 1);
      const auto set = [&] {
        scenario.fence(kFirst, Scope::kGpu);
        scenario.store(kFirst, half, kFlag, 1);
      };
      if (flag_first) {
        set();
      }
      scenario.load(kSecond, poll(MemoryOrder::kRelaxed, Scope::kGpu), kFlag, 1);
      if (!flag_first) {
        set();
      }
      REQUIRE(scenario.has_only(Severity::kError));
      CHECK(
          (order == MemoryOrder::kWeak || scenario.races()[0].missing == MissingOrder::kMixedSize));
    }
  }
}

TEST_CASE("a flag pair with a fence for the block only is no pair across blocks") {
  Scenario scenario(2, 1);
  scenario.write(kFirst, kData);
  scenario.fence(kFirst, Scope::kCta);
  scenario.store(kFirst, flag_store(MemoryOrder::kVolatile, Scope::kCta), kFlag, 1);
  scenario.load(kSecond, poll(MemoryOrder::kVolatile, Scope::kCta), kFlag, 1);
  scenario.fence(kSecond, Scope::kCta);
  scenario.read(kSecond, kData);
  REQUIRE(scenario.races().size() == 2);
  CHECK(scenario.races()[0].severity == Severity::kWarning);
  CHECK(scenario.races()[1].severity == Severity::kError);
  CHECK(scenario.races()[1].missing == MissingOrder::kScopeTooNarrow);
}

TEST_CASE("a lock whose release is a plain store after a fence orders its critical sections") {
  for (const bool has_fence : {true, false}) {
    SiteInfo lock = kRelaxedAtomic;
    lock.poll = true;
    lock.idiom_scope = Scope::kGpu;
    SiteInfo unlock = word(Operation::kWrite);
    unlock.flag_store = has_fence;
    unlock.idiom_scope = Scope::kGpu;
    Scenario scenario(3, 1);
    for (const std::uint32_t cta : {0U, 1U, 2U}) {
      const Who who{.cta = cta};
      if (cta != 0) {
        scenario.atomic(who, lock, kFlag, 1, std::nullopt);
      }
      scenario.atomic(who, lock, kFlag, 0, 1);
      scenario.fence(who, Scope::kGpu);
      scenario.read(who, kData);
      scenario.write(who, kData);
      if (has_fence) {
        scenario.fence(who, Scope::kGpu);
      }
      scenario.store(who, unlock, kFlag, 0);
    }
    CHECK(scenario.races().empty() == has_fence);
  }
}

TEST_CASE(
    "a non-coherent load conflicts with a write of its kernel although a barrier orders them") {
  SiteInfo load = word(Operation::kRead);
  load.proxy = wire::Proxy::kReadOnly;
  Scenario same, later;
  same.launch(1, 64);
  same.write({.warp = 0, .mask = kAll}, kData, 4);
  same.barrier({.warp = 0, .mask = kAll});
  same.barrier({.warp = 1, .mask = kAll});
  same.access({.warp = 1, .mask = kAll}, load, kData, 4);
  CHECK(same.has_only(Severity::kError));
  const LaunchId first = later.launch(1, 1);
  later.write({.launch = first}, kData);
  later.exit({.launch = first});
  const LaunchId second = later.launch(1, 1, {first});
  later.access({.launch = second}, load, kData);
  CHECK(later.is_clean());
}

TEST_CASE("a value of unknown origin may be that of a write whose value is unknown") {
  Scenario scenario(2, 1);
  WarpOperation red =
      scenario.start(kFirst, word(Operation::kReduction, MemoryOrder::kRelaxed, Scope::kGpu),
                     RecordKind::kRelease);
  red.lanes[0].address = kFlag;
  scenario.detector.apply(red);
  scenario.load(kSecond, word(Operation::kRead, MemoryOrder::kRelaxed, Scope::kGpu), kFlag, 7);
  scenario.write(kSecond, kFlag);
  CHECK(scenario.is_clean());
}

TEST_CASE("shared memory is each block's own") {
  Scenario scenario(2, 1);
  scenario.write(kFirst, shared(16));
  scenario.write(kSecond, shared(16));
  CHECK(scenario.is_clean());
}

TEST_CASE("memory that was freed is forgotten, and its neighbours are not") {
  Scenario scenario(2, 1);
  scenario.write(kFirst, kData);
  scenario.write(kFirst, kData + 4);
  scenario.detector.forget(kData, 4);
  scenario.write(kSecond, kData);
  CHECK(scenario.is_clean());
  scenario.write(kSecond, kData + 4);
  CHECK(scenario.has_only(Severity::kError));
}

TEST_CASE("repeats of a pair of sites are counted, not listed") {
  Scenario scenario(3, 1);
  const SiteInfo site = word(Operation::kWrite);
  WarpOperation operation = scenario.start({.mask = 1}, site, RecordKind::kAffine);
  operation.lanes[0].address = kData;
  for (const std::uint32_t cta : {0U, 1U, 2U}) {
    operation.cta = cta;
    scenario.detector.apply(operation);
  }
  REQUIRE(scenario.races().size() == 1);
  CHECK(scenario.races()[0].count == 3);
}

TEST_CASE("a race in a function knows its calls, innermost first") {
  Scenario scenario(2, 1);
  const SiteId outer = scenario.call(kFirst);
  const SiteId inner = scenario.call(kFirst);
  scenario.write(kFirst, kData);
  scenario.leave(kFirst);
  scenario.write(kFirst, kFlag);
  scenario.read(kSecond, kData);
  scenario.read(kSecond, kFlag);
  REQUIRE(scenario.races().size() == 2);
  CHECK(scenario.races()[0].first.call_stack == std::vector{inner, outer});
  CHECK(scenario.races()[1].first.call_stack == std::vector{outer});
  CHECK(scenario.races()[0].second.call_stack.empty());
}

TEST_CASE("an access that no device can make is no malformed record where its kernel died of it") {
  for (const bool dies : {true, false}) {
    Scenario scenario;
    const LaunchId launch = scenario.launch(1, 32);
    scenario.write({}, shared(std::uint64_t{1} << 30));
    if (dies) {
      scenario.detector.end_launch(launch);
    } else {
      scenario.exit({.mask = kAll});
    }
    CHECK(scenario.detector.rejected() == (dies ? 0 : 1));
  }
}

TEST_CASE("what cannot be is counted and does nothing") {
  Scenario scenario(1, 32);
  scenario.write({.launch = LaunchId{7}}, kData);
  scenario.write({.cta = 1}, kData);
  scenario.write({.warp = 1}, kData);
  scenario.write({.mask = 0}, kData);
  WarpOperation unknown = scenario.start({}, word(Operation::kWrite), RecordKind::kAffine);
  unknown.site = SiteId{999};
  scenario.detector.apply(unknown);
  SiteInfo empty = word(Operation::kWrite);
  empty.element_bytes = 0;
  scenario.access({}, empty, kData);
  scenario.write({}, shared(std::uint64_t{1} << 30));
  scenario.exit({.mask = kAll});
  scenario.write({}, kData);
  CHECK(scenario.detector.rejected() == 8);
  CHECK(scenario.races().empty());
}

TEST_CASE("a compare-and-swap reads the bytes that it leaves as they were, and writes the others") {
  for (const bool is_write : {true, false}) {
    INFO("another block " << (is_write ? "writes" : "reads") << " a byte that is left as it was");
    Scenario scenario(2, 32);
    WarpOperation swap =
        scenario.start({.cta = 0, .mask = 1}, kRelaxedAtomic, RecordKind::kRelease);
    swap.lanes[0] = {.address = kData, .value_read = 0x01020304, .value_written = 0x01020305};
    swap.lanes[0].flags = wire::kLaneHasRead | wire::kLaneHasWritten | wire::kLaneCompares;
    scenario.detector.apply(swap);
    swap.kind = RecordKind::kAcquire;
    scenario.detector.apply(swap);
    SiteInfo byte = word(is_write ? Operation::kWrite : Operation::kRead);
    byte.element_bytes = 1;
    scenario.access({.cta = 1, .mask = 1}, byte, kData + 3);
    CHECK(scenario.races().size() == (is_write ? 1 : 0));
  }
}

TEST_CASE("what tells where shared variables lie orders nothing") {
  Scenario scenario;
  scenario.launch(2, 32);
  const SiteId site = scenario.event({.mask = 1}, {.operation = Operation::kSharedPlace}, 1024, 3);
  CHECK(scenario.detector.findings().shared_places ==
        std::vector{SharedPlace{.site = site, .number = 3, .address = 1024}});
  CHECK(scenario.is_clean());
}

}  // namespace barracuda::detector::test

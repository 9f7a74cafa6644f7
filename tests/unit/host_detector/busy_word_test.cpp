// A word that very many threads touch without order.
#include <algorithm>

#include <catch2/catch.hpp>

#include "host_detector/shadow/access_history.h"
#include "tests/unit/host_detector/scenario.h"

namespace barracuda::detector::test {

TEST_CASE(
    "of a word that all blocks write, an access counts so many races with one site and no more") {
  constexpr std::uint32_t kBlocks = 300;
  constexpr std::uint64_t kEnough = 8;
  Scenario scenario(kBlocks, 1);
  WarpOperation store =
      scenario.start({.cta = 0}, word(Operation::kWrite), wire::RecordKind::kAffine);
  store.lanes[0].address = kData;
  std::uint64_t expected = 0;
  for (std::uint32_t block = 0; block < kBlocks; ++block) {
    store.cta = block;
    scenario.detector.apply(store);
    expected += std::min<std::uint64_t>(block, kEnough);
  }
  REQUIRE(scenario.races().size() == 1);
  CHECK(scenario.races()[0].count == expected);
  // Another site is held against all of them as ever.
  scenario.read({.cta = 7}, kData);
  CHECK(scenario.races().size() == 2);
}

TEST_CASE("a warp that races at every word of its access counts each of them") {
  Scenario scenario(2, 32);
  const SiteInfo site = word(Operation::kWrite);
  WarpOperation store = scenario.start({.mask = kAll}, site, wire::RecordKind::kAffine);
  for (std::uint32_t lane = 0; lane < wire::kWarpLanes; ++lane) {
    store.lanes[lane].address = kData + std::uint64_t{lane} * 4;
  }
  scenario.detector.apply(store);
  store.cta = 1;
  scenario.detector.apply(store);
  REQUIRE(scenario.races().size() == 1);
  CHECK(scenario.races()[0].count == wire::kWarpLanes);
}

TEST_CASE("races within a warp are not enough of those between warps") {
  Scenario scenario(1, 64);
  WarpOperation read =
      scenario.start({.warp = 0, .mask = 0}, word(Operation::kRead), wire::RecordKind::kAffine);
  read.is_earlier = true;  // word by word, as the filter logs them
  const auto shared = [](std::uint32_t index) {
    return wire::tagged_address(wire::AddressSpace::kShared, 4 * index);
  };
  const std::uint32_t last = wire::kWarpLanes - 1;
  for (std::uint32_t index = 1; index <= last; ++index) {
    read.mask = std::uint32_t{1} << index;
    read.lanes[index].address = shared(index);
    scenario.detector.apply(read);
  }
  read.warp = 1;
  read.mask = 1;
  read.lanes[0].address = shared(0);
  scenario.detector.apply(read);
  WarpOperation store =
      scenario.start({.warp = 0, .mask = kAll}, word(Operation::kWrite), wire::RecordKind::kAffine);
  for (std::uint32_t lane = 0; lane < wire::kWarpLanes; ++lane) {
    store.lanes[lane].address = shared((lane + 1) % wire::kWarpLanes);
  }
  scenario.detector.apply(store);
  REQUIRE(scenario.races().size() == 2);
  CHECK(std::ranges::count(scenario.races(), RaceKind::kIntraBlock, &RaceEvent::kind) == 1);
  CHECK(std::ranges::count(scenario.races(), RaceKind::kIntraWarp, &RaceEvent::kind) == 1);
}

TEST_CASE("a word that many threads write again and again costs no more with every round") {
  constexpr std::uint32_t kBlocks = 200;
  Scenario scenario(kBlocks, 1);
  WarpOperation store =
      scenario.start({.cta = 0}, word(Operation::kWrite), wire::RecordKind::kAffine);
  store.lanes[0].address = kData;
  std::uint64_t counted = 0;
  for (int round = 0; round < 20; ++round) {
    for (std::uint32_t block = 0; block < kBlocks; ++block) {
      store.cta = block;
      scenario.detector.apply(store);
    }
    const std::uint64_t count = scenario.races()[0].count;
    CHECK(count - counted <= std::uint64_t{kBlocks} * 8);
    counted = count;
  }
  // One that was not kept races with another site as those that were.
  scenario.write({.cta = kBlocks - 1}, kData + 4);
  scenario.read({.cta = 0}, kData);
  CHECK(scenario.races().size() == 2);
}

TEST_CASE("atomics of many warps on one word never race, and each is held against a plain write") {
  constexpr std::uint32_t kBlocks = 200;
  Scenario scenario(kBlocks, 32);
  const SiteInfo site = word(Operation::kAtomic, MemoryOrder::kRelaxed, Scope::kGpu);
  WarpOperation add = scenario.start({.mask = 0}, site, wire::RecordKind::kScattered);
  for (std::uint32_t round = 0; round < 20; ++round) {
    for (std::uint32_t block = 0; block < kBlocks; ++block) {
      add.cta = block;
      add.mask = std::uint32_t{1} << (round % 4);
      add.lanes[round % 4].address = kData;
      scenario.detector.apply(add);
      scenario.fence({.cta = block}, Scope::kCta);  // what follows is stamped later
    }
  }
  CHECK(scenario.races().empty());
  scenario.write({.cta = kBlocks - 1}, kData);
  REQUIRE(scenario.races().size() == 2);  // with lanes of its warp, and with other blocks
  const auto of_blocks =
      std::ranges::find(scenario.races(), RaceKind::kInterBlock, &RaceEvent::kind);
  REQUIRE(of_blocks != scenario.races().end());
  CHECK(of_blocks->count == 8);
}

TEST_CASE("races with one site of a busy word do not hide a race with another") {
  constexpr std::uint32_t kReaders = AccessHistory::kGatherAt + 2;
  Scenario scenario(kReaders + 2, 1);
  WarpOperation load = scenario.start({}, word(Operation::kRead), wire::RecordKind::kAffine);
  load.lanes[0].address = kData;
  for (std::uint32_t block = 0; block < kReaders; ++block) {
    load.cta = block;
    scenario.detector.apply(load);
  }
  const SiteId other = scenario.read({.cta = kReaders}, kData);
  scenario.write({.cta = kReaders + 1}, kData);
  REQUIRE(scenario.races().size() == 2);
  CHECK(scenario.races()[1].first.site == other);
}

TEST_CASE("what other sites did to a busy word leaves room for the accesses of one") {
  constexpr std::uint32_t kSame = 9, kOthers = 12, kLast = kSame + kOthers, kReader = kLast + 1;
  Scenario scenario(kReader + 1, 1);
  WarpOperation store = scenario.start({}, word(Operation::kWrite), wire::RecordKind::kAffine);
  store.lanes[0].address = kData;
  const auto hand_over = [&](std::uint32_t block) {
    const std::uint64_t flag = kFlag + std::uint64_t{block} * 8;
    scenario.store({.cta = block}, word(Operation::kWrite, MemoryOrder::kRelease, Scope::kGpu),
                   flag, 1);
    scenario.load({.cta = kReader}, word(Operation::kRead, MemoryOrder::kAcquire, Scope::kGpu),
                  flag, 1);
  };
  for (std::uint32_t block = 0; block < kLast; ++block) {
    if (block < kSame) {
      store.cta = block;
      scenario.detector.apply(store);
    } else {
      scenario.write({.cta = block}, kData);
    }
    hand_over(block);
  }
  store.cta = kLast;
  scenario.detector.apply(store);
  const SiteId read = scenario.read({.cta = kReader}, kData);
  REQUIRE(scenario.races().back().second.site == read);
  CHECK(scenario.races().back().first.thread.cta == kLast);
}

}  // namespace barracuda::detector::test

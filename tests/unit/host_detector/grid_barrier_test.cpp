// Barriers of hundreds of blocks: a counter that all add to and poll. What is found, and that the
// work grows with the records.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include <catch2/catch.hpp>

#include "host_detector/sync/location.h"
#include "tests/unit/host_detector/scenario.h"

namespace barracuda::detector::test {
namespace {

constexpr std::uint32_t kBlocks = 500;
constexpr std::uint64_t kWords = 0x100000;
constexpr std::uint32_t kBit = std::uint32_t{1} << 31;

CtaKey block(std::uint32_t cta) {
  return {LaunchId{1}, cta};
}

// Of one atomic, by a thread that knows itself.
Publication arrival(std::uint32_t cta, std::uint64_t read, std::uint64_t written, Time now) {
  Publication publication;
  publication.writer.thread.cta = block(cta);
  publication.is_atomic = true;
  publication.value_read = read;
  publication.value_written = written;
  const WarpTime own{.slot = warp_slot(0), .lanes = kAll, .time = now};
  Clock known(block(cta));
  known.raise(block(cta), {&own, 1});
  for (Clock& release : publication.releases[static_cast<std::size_t>(Channel::kStrong)]) {
    release = known;
  }
  return publication;
}

Clock acquired(SyncLocation& location, std::uint64_t value, std::uint32_t cta) {
  return location
      .acquire(value, {.cta = block(cta)}, {.level = ScopeLevel::kDevice}, Channel::kStrong)
      .clocks[index_of_level(ScopeLevel::kDevice)];
}

// Adds what the first block adds.
std::uint32_t next(std::uint32_t cta, std::uint32_t value) {
  return value + (cta == 0 ? kBit - (kBlocks - 1) : 1);
}

enum class Lacks : std::uint8_t { kNothing, kArrival, kReleaseFence, kAcquireFence };

struct Sites {
  SiteId write{}, read{};
};

// Rounds in which each block writes its own word, waits for all, and reads that of the next one.
// The last block lacks something in the last round. The sites of its part in that round, and the
// one that reads it.
Sites meet(Scenario& scenario, std::uint32_t rounds, Lacks lacks) {
  const SiteInfo arrive = word(Operation::kAtomic, MemoryOrder::kRelaxed, Scope::kGpu);
  SiteInfo poll = word(Operation::kRead, MemoryOrder::kVolatile, Scope::kGpu);
  poll.poll = poll.waits_for_change = true;
  poll.idiom_scope = Scope::kGpu;
  poll.constant = kBit;
  const auto word_of = [](std::uint32_t round, std::uint32_t cta) {
    return kWords + std::uint64_t{4} * (std::uint64_t{round} * kBlocks + cta % kBlocks);
  };
  Sites last;
  std::uint32_t value = 0;
  for (std::uint32_t round = 0; round < rounds; ++round) {
    const bool is_last = round + 1 == rounds;
    for (std::uint32_t turn = 0; turn < kBlocks; ++turn) {
      const std::uint32_t cta = (turn * 7 + round) % kBlocks;
      const bool is_faulty = is_last && cta == kBlocks - 1;
      const Who who{.cta = cta};
      const SiteId write = scenario.write(who, word_of(round, cta));
      last.write = is_faulty ? write : last.write;
      if (!is_faulty || lacks != Lacks::kReleaseFence) {
        scenario.fence(who, Scope::kGpu);
      }
      // Who does not arrive has a neighbour that arrives twice.
      const bool arrives = !is_faulty || lacks != Lacks::kArrival;
      scenario.atomic({.cta = arrives ? cta : cta - 1}, arrive, kFlag, value, next(cta, value));
      value = next(cta, value);
      scenario.load({.cta = (cta + 493) % kBlocks}, poll, kFlag, value);  // one that waits
    }
    for (std::uint32_t cta = 0; cta < kBlocks; ++cta) {
      const bool is_faulty = is_last && cta == kBlocks - 2;
      const Who who{.cta = cta};
      scenario.load(who, poll, kFlag, value);
      if (!is_faulty || lacks != Lacks::kAcquireFence) {
        scenario.fence(who, Scope::kGpu);
      }
      const SiteId read = scenario.read(who, word_of(round, cta + 1));
      last.read = is_faulty ? read : last.read;
    }
  }
  return last;
}

}  // namespace

TEST_CASE("a barrier of 500 blocks orders them, round after round") {
  Scenario scenario(kBlocks, 1);
  meet(scenario, 6, Lacks::kNothing);
  CHECK(scenario.is_clean());
}

TEST_CASE("a barrier of 500 blocks that lacks an arrival or a fence is found, with both sites") {
  for (const Lacks lacks : {Lacks::kArrival, Lacks::kReleaseFence, Lacks::kAcquireFence}) {
    for (const std::uint32_t rounds : {1U, 5U}) {
      CAPTURE(static_cast<int>(lacks), rounds);
      Scenario scenario(kBlocks, 1);
      const Sites sites = meet(scenario, rounds, lacks);
      REQUIRE(scenario.races().size() == 1);
      CHECK(scenario.races()[0].first.site == AccessSite(sites.write));
      CHECK(scenario.races()[0].second.site == AccessSite(sites.read));
    }
  }
}

// Releases come in the order of the queues, not of the values, and more values than are kept.
TEST_CASE("what an atomic releases all values after it have, though some were forgotten") {
  constexpr std::uint32_t kCount = SyncLocation::kMaxValues + 1000, kStep = 1009;
  static_assert(kCount % kStep != 0);
  SyncLocation location;
  for (std::uint32_t turn = 0; turn < kCount; ++turn) {
    const auto value = static_cast<std::uint32_t>(std::uint64_t{turn} * kStep % kCount);
    location.publish(arrival(value, value, value + 1, 1));
  }
  for (const std::uint32_t seen : {kCount / 3, kCount}) {
    const Clock known = acquired(location, seen, kCount);
    std::uint32_t missing = 0;
    for (std::uint32_t before = 0; before < seen; ++before) {
      missing += known.at({.cta = block(before), .slot = warp_slot(0), .lane = 0}) == 0 ? 1 : 0;
    }
    CHECK(missing == 0);
  }
}

// Not with the number of blocks: of each there are as many values.
TEST_CASE("an arrival at a barrier of 500 blocks costs few joins, a poll fewer steps than blocks") {
  constexpr std::uint32_t kRounds = 8;
  SyncLocation location;
  std::uint64_t arrivals = 0, polls = 0;
  std::uint32_t value = 0;
  for (std::uint32_t round = 0; round < kRounds; ++round) {
    for (std::uint32_t turn = 0; turn < kBlocks; ++turn) {
      const std::uint32_t cta = (turn * 7 + round * 31) % kBlocks;
      location.publish(arrival(cta, value, next(cta, value), round + 1));
      value = next(cta, value);
      ++arrivals;
      for (std::uint32_t times = 0; times < 4; ++times) {
        const std::uint64_t seen = location.first_with_same(kBit, value);
        static_cast<void>(acquired(location, seen, cta + times));
        ++polls;
      }
    }
  }
  CHECK(location.work().joins <= 6 * arrivals);
  CHECK(location.work().steps <= 40 * polls);
}

}  // namespace barracuda::detector::test

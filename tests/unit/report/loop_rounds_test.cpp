#include "report/loop_rounds.h"

#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "base/strong_id.h"
#include "ptx/loop_number.h"
#include "tests/unit/report/samples.h"

namespace barracuda::report {
namespace {

// Sites of a function, and races of two of them.
struct Sample {
  ptx::SiteTable sites;
  std::vector<detector::RaceEvent> races;

  wire::SiteId add(wire::Operation operation, std::uint32_t line,
                   std::vector<std::uint32_t> loops = {}) {
    const auto id = static_cast<std::uint32_t>(sites.size());
    sites.push_back(samples::site(id, operation, {{"_Z3addPi", "/src/add.cu", line, 5}}));
    sites.back().loops = std::move(loops);
    return wire::SiteId{id};
  }

  void race(wire::SiteId one, wire::SiteId other,
            detector::RaceKind kind = detector::RaceKind::kIntraBlock) {
    detector::RaceEvent race;
    race.kind = kind;
    race.first.site = one;
    race.second.site = other;
    race.first.last_sync = race.second.last_sync = detector::LastSync::kNone;
    races.push_back(race);
  }

  [[nodiscard]] LoopRounds last() const { return loop_rounds(races, sites).back(); }
};

constexpr auto kRead = wire::Operation::kRead;
constexpr auto kWrite = wire::Operation::kWrite;

}  // namespace

TEST_CASE("outside of loops the order is missing between the accesses") {
  Sample sample;
  sample.race(sample.add(kWrite, 12), sample.add(kRead, 14));
  CHECK(sample.last().within);
  CHECK_FALSE(sample.last().across);
}

TEST_CASE("in a loop without a barrier it is missing before the next round as well") {
  Sample sample;
  sample.race(sample.add(kWrite, 12, {3}), sample.add(kRead, 14, {3, 5}));
  CHECK(sample.last().within);
  CHECK(sample.last().across);
  sample.races.back().second.site = sample.add(kRead, 12, {3});
  CHECK_FALSE(sample.last().within);
  CHECK(sample.last().across);
}

TEST_CASE("updates of different places in a loop with a barrier race between rounds") {
  Sample sample;
  const auto add = [&](wire::Operation operation, std::uint32_t line, std::uint32_t update) {
    const wire::SiteId id = sample.add(operation, line, {3});
    sample.sites.back().update = update;
    return id;
  };
  const wire::SiteId read = add(kRead, 12, 1), own = add(kWrite, 13, 1), other = add(kWrite, 14, 2);
  const wire::SiteId barrier = sample.add(wire::Operation::kBarrier, 16, {3});
  const auto race = [&](wire::SiteId one, wire::SiteId with) {
    sample.race(one, with);
    sample.races.back().first.last_sync = sample.races.back().second.last_sync =
        detector::LastSync::kKnown;
    sample.races.back().first.last_sync_site = sample.races.back().second.last_sync_site = barrier;
  };
  race(read, own);
  CHECK_FALSE(sample.last().are_steps);
  race(read, other);
  const std::vector<LoopRounds> all = loop_rounds(sample.races, sample.sites);
  for (const LoopRounds& rounds : all) {  // that of one update as well, where others race
    CHECK(rounds.are_steps);
    CHECK(rounds.across);
    CHECK_FALSE(rounds.within);
  }
  sample.sites[index_of(barrier)].loops.clear();
  CHECK_FALSE(sample.last().are_steps);
  sample.sites[index_of(barrier)].loops = {3};
  sample.sites[index_of(other)].frames = sample.sites[index_of(read)].frames;  // unrolled: x[0]++
  CHECK_FALSE(sample.last().are_steps);
}

TEST_CASE("an exchange of two places races with itself from round to round only") {
  Sample sample;
  // The statement that reads both, and writes both.
  const auto add = [&](std::uint32_t line, std::uint32_t update,
                       const std::vector<std::uint32_t>& loops) {
    std::vector<wire::SiteId> parts;
    for (const wire::Operation operation : {kRead, kRead, kWrite, kWrite}) {
      parts.push_back(sample.add(operation, line, loops));
      sample.sites.back().update = update;
    }
    return parts;
  };
  const auto are_steps = [&](wire::SiteId one, wire::SiteId other) {
    sample.races.clear();
    sample.race(one, other);
    const LoopRounds rounds = sample.last();
    CHECK(rounds.across == rounds.are_steps);
    CHECK(rounds.within != rounds.are_steps);
    return rounds.are_steps;
  };
  const auto first = add(12, 1, {3});  // in a loop without any barrier
  CHECK(are_steps(first[0], first[2]));
  CHECK(are_steps(first[3], first[3]));
  const wire::SiteId barrier = sample.add(wire::Operation::kBarrier, 13, {3});
  CHECK_FALSE(are_steps(first[0], first[2]));
  sample.sites[index_of(barrier)].is_skipped = true;
  CHECK(are_steps(first[0], first[2]));
  const auto next = add(20, 2, {});
  CHECK_FALSE(are_steps(first[0], next[2]));
  CHECK_FALSE(are_steps(next[0], next[2]));
  const auto copy = add(20, 5, {});
  CHECK(are_steps(next[0], copy[2]));
  CHECK(are_steps(next[0], next[2]));
  CHECK_FALSE(are_steps(first[0], copy[2]));
  // Their function, inlined at two places.
  for (const auto& [parts, line] : {std::pair(next, 40U), std::pair(copy, 41U)}) {
    for (const wire::SiteId id : parts) {
      sample.sites[index_of(id)].frames.push_back({"_Z3addPi", "/src/add.cu", line, 1});
    }
  }
  CHECK_FALSE(are_steps(next[0], copy[2]));
}

TEST_CASE("a barrier in the loop orders its rounds, one before it does not") {
  Sample sample;
  sample.race(sample.add(kWrite, 12, {3}), sample.add(kRead, 14, {3}));
  for (detector::RaceAccess* const side :
       {&sample.races.back().first, &sample.races.back().second}) {
    side->last_sync = detector::LastSync::kKnown;
    side->last_sync_site = sample.add(wire::Operation::kBarrier, 10);
  }
  CHECK(sample.last().across);
  sample.races.back().second.last_sync_site = sample.add(wire::Operation::kBarrier, 15, {3});
  CHECK_FALSE(sample.last().across);
  sample.races.back().second.last_sync = detector::LastSync::kUnknown;
  CHECK_FALSE(sample.last().across);
}

TEST_CASE("in the first round of a loop with a barrier the order is missing between the accesses") {
  Sample sample;
  sample.race(sample.add(kWrite, 12, {3}), sample.add(kRead, 14, {3}));
  CHECK(sample.last().across);
  const wire::SiteId barrier = sample.add(wire::Operation::kBarrier, 16, {3});
  CHECK(sample.last().within);
  CHECK_FALSE(sample.last().across);
  sample.sites[index_of(barrier)].is_skipped = true;
  CHECK(sample.last().across);
  sample.sites[index_of(barrier)].is_skipped = false;
  sample.sites[index_of(barrier)].loops = {3, 5};  // of which there may be no round
  CHECK(sample.last().across);
}

TEST_CASE("behind a barrier between two lines of a loop the earlier line is of the next round") {
  Sample sample;
  sample.race(sample.add(kRead, 14, {3, 5}), sample.add(kWrite, 12, {3}));
  const auto sync = sample.add(wire::Operation::kBarrier, 13, {3});
  for (detector::RaceAccess* const side :
       {&sample.races.back().first, &sample.races.back().second}) {
    side->last_sync = detector::LastSync::kKnown;
    side->last_sync_site = sync;
  }
  CHECK_FALSE(sample.last().within);
  CHECK(sample.last().across);
  const auto behind = sample.add(wire::Operation::kBarrier, 15, {3});
  sample.races.back().first.last_sync_site = sample.races.back().second.last_sync_site = behind;
  CHECK(sample.last().within);
  CHECK_FALSE(sample.last().across);
}

TEST_CASE(
    "behind a barrier between two lines there is a next round, if the loop is unrolled or not") {
  Sample sample;
  sample.race(sample.add(kWrite, 12), sample.add(kRead, 14));
  const auto sync = sample.add(wire::Operation::kBarrier, 13);
  for (detector::RaceAccess* const side :
       {&sample.races.back().first, &sample.races.back().second}) {
    side->last_sync = detector::LastSync::kKnown;
    side->last_sync_site = sync;
  }
  CHECK(sample.last().across);
  CHECK_FALSE(sample.last().within);
  sample.sites[1].frames.push_back({"_Z3addPi", "/src/add.cu", 30, 5});  // inlined at two places
  CHECK_FALSE(sample.last().across);
  sample.sites[1].frames.pop_back();
  sample.sites[0].in_entry = sample.sites[1].in_entry = false;  // a function that is called twice
  CHECK_FALSE(sample.last().across);
}

TEST_CASE("what races within a warp wants the barrier that another race of its lines wants") {
  constexpr auto kWarp = detector::RaceKind::kIntraWarp;
  Sample sample;
  const auto left = sample.add(kWrite, 10);
  const auto right = sample.add(kWrite, 11);
  const auto product = sample.add(kRead, 13);
  sample.race(left, product, kWarp);
  CHECK_FALSE(sample.last().is_of_block);
  sample.race(product, sample.add(kWrite, 15));  // a barrier behind the product, not before it
  sample.race(left, product, kWarp);
  CHECK_FALSE(sample.last().is_of_block);
  sample.race(right, product);
  CHECK_FALSE(sample.last().is_of_block);  // it lacks that anyway
  sample.race(left, product, kWarp);
  CHECK(sample.last().is_of_block);
  sample.race(sample.add(kWrite, 3), sample.add(kRead, 4), kWarp);
  CHECK_FALSE(sample.last().is_of_block);
}

TEST_CASE("of an unrolled loop the order of the copies says which rounds race") {
  Sample sample;
  const auto write = sample.add(kWrite, 14);
  const auto read = sample.add(kRead, 13);
  const auto next_write = sample.add(kWrite, 14);
  sample.race(write, read);     // 13 of the next round
  CHECK(sample.last().within);  // nothing says yet that it is a loop
  sample.race(read, next_write);
  CHECK(sample.last().within);
  CHECK(sample.last().across);
  sample.races.pop_back();
  sample.race(write, next_write);
  CHECK_FALSE(loop_rounds(sample.races, sample.sites).front().within);
  CHECK(loop_rounds(sample.races, sample.sites).front().across);
}

TEST_CASE("one line that is unrolled races from round to round if its store comes first") {
  Sample sample;
  const auto write = sample.add(kWrite, 14);
  const auto read = sample.add(kRead, 14);
  const auto next_write = sample.add(kWrite, 14);
  sample.race(write, read);
  sample.race(write, next_write);
  CHECK_FALSE(sample.last().within);
  CHECK(sample.last().across);
  sample.race(read, next_write);
  CHECK(sample.last().within);
}

TEST_CASE("a function that is inlined at two places is no loop") {
  Sample sample;
  const auto write = sample.add(kWrite, 14);
  const auto read = sample.add(kRead, 13);
  const auto other_write = sample.add(kWrite, 14);
  sample.sites[0].frames.push_back({"_Z3addPi", "/src/add.cu", 30, 5});
  sample.sites[1].frames.push_back({"_Z3addPi", "/src/add.cu", 31, 5});
  sample.sites[2].frames.push_back({"_Z3addPi", "/src/add.cu", 31, 5});
  sample.race(read, other_write);
  sample.race(write, read);
  CHECK(sample.last().within);
  CHECK_FALSE(sample.last().across);
  sample.sites[2].frames.pop_back();  // a copy that has lost its callers
  CHECK(sample.last().across);
}

TEST_CASE("a loop that not all threads go round together has no place for a barrier") {
  const std::uint32_t uneven = 5 | ptx::kUnevenLoop;
  Sample sample;
  sample.race(sample.add(kWrite, 12, {3, uneven}), sample.add(kRead, 14, {3, uneven}));
  CHECK(sample.last().is_uneven);
  CHECK(sample.last().within);
  CHECK(sample.last().across);
  sample.sites[1].loops = {3};  // the other is outside of it
  CHECK_FALSE(sample.last().is_uneven);
  sample.sites[1].loops = {3, uneven};
  const auto barrier = sample.add(wire::Operation::kBarrier, 16, {3, uneven});
  CHECK_FALSE(sample.last().is_uneven);  // the program has one there
  sample.sites[index_of(barrier)].loops = {3};
  CHECK(sample.last().is_uneven);
}

TEST_CASE("volatile steps have no place for a barrier there either, and are no reason for one") {
  const std::uint32_t uneven = 5 | ptx::kUnevenLoop;
  Sample sample;
  const auto write = sample.add(kWrite, 12, {uneven});
  const auto read = sample.add(kRead, 14, {uneven});
  sample.race(write, read);
  sample.races.back().missing = detector::MissingOrder::kVolatileFlag;
  CHECK(sample.last().is_uneven);
  sample.sites[index_of(write)].loops = sample.sites[index_of(read)].loops = {3};
  CHECK_FALSE(sample.last().is_uneven);
  sample.race(write, read, detector::RaceKind::kIntraWarp);
  CHECK_FALSE(sample.last().is_of_block);
  sample.races.front().missing = detector::MissingOrder::kNoSynchronisation;
  CHECK(sample.last().is_of_block);
}

TEST_CASE("what is left of an unrolled loop has no place for a barrier either") {
  Sample sample;
  const auto write = sample.add(kWrite, 14, {5 | ptx::kUnevenLoop});
  const auto read = sample.add(kRead, 13, {5 | ptx::kUnevenLoop});
  const auto last_write = sample.add(kWrite, 14, {7 | ptx::kUnevenLoop});
  sample.race(write, last_write);
  sample.race(read, last_write);
  CHECK(sample.last().is_uneven);
  sample.sites[index_of(last_write)].loops = {7};
  CHECK_FALSE(sample.last().is_uneven);
}

TEST_CASE("where the barriers of a loop are left out in some rounds, it is missing in those") {
  Sample sample;
  const auto write = sample.add(kWrite, 12, {3}), read = sample.add(kRead, 14, {3});
  const auto barrier = sample.add(wire::Operation::kBarrier, 16, {3});
  const auto race = [&](wire::SiteId one, wire::SiteId other) {
    sample.race(one, other);
    sample.races.back().first.last_sync = sample.races.back().second.last_sync =
        detector::LastSync::kKnown;
    sample.races.back().first.last_sync_site = sample.races.back().second.last_sync_site = barrier;
  };
  race(write, read);
  CHECK(sample.last().within);
  CHECK_FALSE(sample.last().across);
  sample.sites[index_of(barrier)].is_skipped = true;
  CHECK(sample.last().within);
  CHECK(sample.last().across);
  const auto other = sample.add(kRead, 12, {3});  // cells[t] += cells[t + half];
  sample.sites[index_of(other)].instruction = "ld.shared.u32";
  race(write, other);
  CHECK_FALSE(sample.last().within);
  CHECK(sample.last().across);
  sample.add(wire::Operation::kBarrier, 18, {3});
  CHECK(sample.last().within);
}

TEST_CASE("between two loops that are unrolled there is a place for a barrier") {
  Sample sample;
  const auto write = sample.add(kWrite, 14, {5 | ptx::kUnevenLoop});
  const auto last_write = sample.add(kWrite, 14, {7 | ptx::kUnevenLoop});
  const auto read = sample.add(kRead, 20, {9 | ptx::kUnevenLoop});
  sample.race(write, last_write);
  sample.race(last_write, read);
  CHECK_FALSE(sample.last().is_uneven);
  sample.add(kRead, 20, {7 | ptx::kUnevenLoop});  // of one loop after all
  CHECK(sample.last().is_uneven);
}

TEST_CASE("in such a loop lanes of a warp do not get the barrier of the block") {
  const std::uint32_t uneven = 5 | ptx::kUnevenLoop;
  Sample sample;
  const auto write = sample.add(kWrite, 12, {uneven});
  const auto read = sample.add(kRead, 14, {uneven});
  sample.race(write, sample.add(kRead, 15, {uneven}));
  sample.race(write, read, detector::RaceKind::kIntraWarp);
  CHECK_FALSE(sample.last().is_of_block);
}

TEST_CASE("two statements of one line are no loop") {
  Sample sample;
  const auto write = sample.add(kWrite, 14);
  const auto other = sample.add(kWrite, 14);
  sample.sites[1].frames.front().column = 30;
  sample.race(write, other);
  CHECK(sample.last().within);
  CHECK_FALSE(sample.last().across);
  sample.sites[1].frames.front().column = sample.sites[0].frames.front().column;
  CHECK(sample.last().across);
  sample.sites[1].instruction = "st.global.v4.u32";
  CHECK_FALSE(sample.last().across);
}

TEST_CASE("blocks have no loop in common") {
  Sample sample;
  sample.race(sample.add(kWrite, 12, {3}), sample.add(kRead, 14, {3}));
  sample.races.back().kind = detector::RaceKind::kInterBlock;
  CHECK_FALSE(sample.last().across);
}

}  // namespace barracuda::report

#include "host_detector/clock/clock.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <vector>

#include <catch2/catch.hpp>
#include <rapidcheck.h>

namespace barracuda::detector {
namespace {

// One time for each thread, nothing shared and nothing folded.
using Thread = std::tuple<CtaKey, std::uint32_t, std::uint32_t>;  // CTA, warp, lane
using FullClock = std::map<Thread, Time>;

constexpr std::uint32_t kWarps = 40;  // more than a record can name
constexpr std::array kCtas{
    CtaKey(LaunchId{1}, 0),          CtaKey(LaunchId{1}, 1),          CtaKey(LaunchId{1}, 15),
    CtaKey(LaunchId{1}, 16),         CtaKey(LaunchId{1}, 17),         CtaKey(LaunchId{1}, 4097),
    CtaKey(LaunchId{1}, 0x7fffffff), CtaKey(LaunchId{2}, 0),          CtaKey(LaunchId{2}, 1),
    CtaKey(LaunchId{2}, 0xffffffff), CtaKey(LaunchId{0x3fffffff}, 0), CtaKey(LaunchId{65537}, 3),
};

void raise(FullClock& clock, CtaKey cta, const WarpTime& known) {
  for (std::uint32_t lane = 0; lane < wire::kWarpLanes; ++lane) {
    if ((known.lanes >> lane & 1) != 0) {
      Time& time = clock[{cta, index_of(known.slot), lane}];
      time = std::max(time, known.time);
    }
  }
}

void join(FullClock& into, const FullClock& from) {
  for (const auto& [thread, time] : from) {
    into[thread] = std::max(into[thread], time);
  }
}

bool covers(const FullClock& clock, const FullClock& other) {
  return std::ranges::all_of(other, [&](const auto& each) {
    const auto known = clock.find(each.first);
    return each.second == 0 || (known != clock.end() && known->second >= each.second);
  });
}

Time time_of(const FullClock& clock, CtaKey cta, std::uint32_t warp, std::uint32_t lane) {
  const auto known = clock.find({cta, warp, lane});
  return known == clock.end() ? 0 : known->second;
}

template <typename Clocked>
void check_warp(const Clocked& at, Time floor, const FullClock& full, CtaKey cta,
                std::uint32_t warp) {
  Time least = ~Time{0};
  for (std::uint32_t lane = 0; lane < wire::kWarpLanes; ++lane) {
    RC_ASSERT(at(lane) == time_of(full, cta, warp, lane));
    least = std::min(least, time_of(full, cta, warp, lane));
  }
  RC_ASSERT(floor == least);
}

void check_same(const Clock& clock, const FullClock& full) {
  RC_ASSERT(clock.is_valid());
  for (const CtaKey cta : kCtas) {
    for (std::uint32_t warp = 0; warp < kWarps; ++warp) {
      check_warp(
          [&](std::uint32_t lane) {
            return clock.at({.cta = cta, .slot = warp_slot(warp), .lane = lane});
          },
          clock.floor(cta, warp_slot(warp)), full, cta, warp);
    }
  }
}

WarpTime any_time() {
  const auto lanes = *rc::gen::oneOf(rc::gen::just(~std::uint32_t{0}),
                                     rc::gen::map(rc::gen::inRange<std::uint32_t>(0, 32),
                                                  [](std::uint32_t lane) { return 1U << lane; }),
                                     rc::gen::resize(100, rc::gen::arbitrary<std::uint32_t>()));
  return {.slot = WarpSlot{*rc::gen::oneOf(rc::gen::inRange<std::uint32_t>(0, 3),
                                           rc::gen::inRange<std::uint32_t>(0, kWarps))},
          .lanes = lanes,
          .time = *rc::gen::inRange<Time>(1, 6)};
}

CtaKey any_cta() {
  return kCtas[*rc::gen::inRange<std::size_t>(0, kCtas.size())];
}

}  // namespace

TEST_CASE("the clock of a block says of every lane what a full vector clock says") {
  CHECK(rc::check([] {
    const CtaKey key = kCtas[9];
    std::array<FullClock, 2> full;
    std::array<boost::intrusive_ptr<CtaClock>, 2> clocks{new CtaClock(key), new CtaClock(key)};
    const auto steps = *rc::gen::inRange(0, 40);
    for (int step = 0; step < steps; ++step) {
      const auto which = *rc::gen::inRange<std::size_t>(0, 2);
      if (*rc::gen::inRange(0, 8) == 0) {
        clocks[which]->join(*clocks[1 - which]);
        join(full[which], full[1 - which]);
      } else {
        const WarpTime known = any_time();
        clocks[which]->raise(known);
        raise(full[which], key, known);
      }
      RC_ASSERT(clocks[which]->is_valid());
    }
    for (std::size_t which = 0; which < 2; ++which) {
      const CtaClock& clock = *clocks[which];
      for (std::uint32_t warp = 0; warp < kWarps; ++warp) {
        check_warp([&](std::uint32_t lane) { return clock.at(warp_slot(warp), lane); },
                   clock.floor(warp_slot(warp)), full[which], key, warp);
      }
      RC_ASSERT(clock.covers(*clocks[1 - which]) == covers(full[which], full[1 - which]));
    }
    const CtaClockPointer both = joined(clocks[0], clocks[1]);
    join(full[0], full[1]);
    for (std::uint32_t warp = 0; warp < kWarps; ++warp) {
      check_warp([&](std::uint32_t lane) { return both->at(warp_slot(warp), lane); },
                 both->floor(warp_slot(warp)), full[0], key, warp);
    }
  }));
}

TEST_CASE("clocks join, compare, rise, are copied and cut as full vector clocks are") {
  CHECK(rc::check([] {
    constexpr std::size_t kClocks = 4;
    std::array<Clock, kClocks> clocks{Clock(kCtas[0]), Clock(kCtas[1]), Clock(kCtas[9]), Clock()};
    std::array<FullClock, kClocks> full;
    const auto steps = *rc::gen::inRange(0, 60);
    for (int step = 0; step < steps; ++step) {
      const auto a = *rc::gen::inRange<std::size_t>(0, kClocks);
      const auto b = *rc::gen::inRange<std::size_t>(0, kClocks);
      switch (*rc::gen::inRange(0, 6)) {
        case 0:
          clocks[a] = clocks[b];
          full[a] = full[b];
          break;
        case 1:
        case 2:
          clocks[a].join(clocks[b]);
          join(full[a], full[b]);
          break;
        case 3: {
          const CtaKey limit = any_cta();
          clocks[a] = clocks[b].without([&](CtaKey cta) { return cta >= limit; });
          full[a] = full[b];
          std::erase_if(full[a],
                        [&](const auto& each) { return std::get<0>(each.first) >= limit; });
          break;
        }
        default: {
          const CtaKey cta = any_cta();
          const std::vector<WarpTime> known{any_time(), any_time()};
          clocks[a].raise(cta, known);
          raise(full[a], cta, known[0]);
          raise(full[a], cta, known[1]);
        }
      }
    }
    for (std::size_t a = 0; a < kClocks; ++a) {
      check_same(clocks[a], full[a]);
      for (std::size_t b = 0; b < kClocks; ++b) {
        RC_ASSERT(clocks[a].covers(clocks[b]) == covers(full[a], full[b]));
        RC_ASSERT(!clocks[a].shares_all_with(clocks[b]) || full[a] == full[b] ||
                  (covers(full[a], full[b]) && covers(full[b], full[a])));
      }
    }
  }));
}

TEST_CASE("a clock of many blocks knows each of them, in whatever order they came") {
  CHECK(rc::check([] {
    std::array<Clock, 2> clocks;
    std::array<std::map<std::uint32_t, Time>, 2> full;
    const auto blocks = *rc::gen::container<std::vector<std::uint32_t>>(
        200, rc::gen::oneOf(rc::gen::inRange<std::uint32_t>(0, 600),
                            rc::gen::resize(100, rc::gen::arbitrary<std::uint32_t>())));
    for (std::size_t index = 0; index < blocks.size(); ++index) {
      const std::size_t which = index / 3 % 2;
      const WarpTime known{.slot = warp_slot(0),
                           .lanes = ~std::uint32_t{0},
                           .time = static_cast<Time>(index % 7 + 1)};
      clocks[which].raise(CtaKey(LaunchId{7}, blocks[index]), {&known, 1});
      Time& time = full[which][blocks[index]];
      time = std::max(time, known.time);
      if (index % 50 == 49) {
        clocks[which].join(clocks[1 - which]);
        for (const auto& [block, other] : full[1 - which]) {
          full[which][block] = std::max(full[which][block], other);
        }
        RC_ASSERT(clocks[which].covers(clocks[1 - which]));
      }
    }
    for (std::size_t which = 0; which < 2; ++which) {
      RC_ASSERT(clocks[which].is_valid());
      for (const std::uint32_t block : blocks) {
        const auto known = full[which].find(block);
        RC_ASSERT(clocks[which].floor(CtaKey(LaunchId{7}, block), warp_slot(0)) ==
                  (known == full[which].end() ? 0 : known->second));
      }
      const bool covered = std::ranges::all_of(full[1 - which], [&](const auto& each) {
        const auto known = full[which].find(each.first);
        return known != full[which].end() && known->second >= each.second;
      });
      RC_ASSERT(clocks[which].covers(clocks[1 - which]) == covered);
    }
  }));
}

TEST_CASE("a copied clock stays as it was when the other rises") {
  const CtaKey home = CtaKey(LaunchId{3}, 0xfffffffe);
  const CtaKey other = CtaKey(LaunchId{3}, 0xffffffff);
  Clock first(home);
  const WarpTime one{.slot = warp_slot(33), .lanes = 1, .time = 4};
  first.raise(home, {&one, 1});
  first.raise(other, {&one, 1});
  const Clock copy = first;
  CHECK(copy.shares_all_with(first));
  const WarpTime two{.slot = warp_slot(33), .lanes = ~std::uint32_t{0}, .time = 9};
  first.raise(home, {&two, 1});
  first.raise(other, {&two, 1});
  CHECK(copy.at({.cta = home, .slot = warp_slot(33), .lane = 0}) == 4);
  CHECK(copy.at({.cta = other, .slot = warp_slot(33), .lane = 0}) == 4);
  CHECK(copy.floor(home, warp_slot(33)) == 0);
  CHECK(first.floor(home, warp_slot(33)) == 9);
  CHECK(first.floor(other, warp_slot(33)) == 9);
  CHECK(first.covers(copy));
  CHECK_FALSE(copy.covers(first));
}

TEST_CASE("an empty clock knows nothing and is covered by every other") {
  const Clock empty;
  CHECK(empty.is_empty());
  CHECK(empty.floor(kCtas[0], warp_slot(0)) == 0);
  CHECK(Clock(kCtas[0]).covers(empty));
  CHECK(empty.covers(Clock(kCtas[0])));
}

TEST_CASE("lanes that catch up become one floor again") {
  CtaClock clock(kCtas[0]);
  for (std::uint32_t lane = 0; lane < wire::kWarpLanes; ++lane) {
    CHECK(clock.floor(warp_slot(5)) == 0);
    clock.raise({.slot = warp_slot(5), .lanes = std::uint32_t{1} << lane, .time = 3});
  }
  CHECK(clock.floor(warp_slot(5)) == 3);
  CHECK(clock.is_valid());
}

TEST_CASE("what a thread has learnt besides a snapshot goes on with what it releases there",
          "[clock]") {
  const CtaKey home(LaunchId{1}, 5), other(LaunchId{1}, 7);
  const WarpTime known{.slot = warp_slot(0), .lanes = ~0U, .time = 3};
  Clock released;
  released.raise(CtaKey(LaunchId{1}, 1), {&known, 1});
  released = released.without_home();
  released.set_snapshot({.of = 1, .version = 1});
  Clock beside;
  beside.raise(other, {&known, 1});
  beside = beside.without_home();
  beside.set_snapshot({.of = 2, .version = 9});

  Clock by_part(home), by_join(home), plain(home);
  for (Clock* const clock : {&by_part, &by_join, &plain}) {
    clock->join(released);
    REQUIRE(clock->covers(released));
  }
  by_part.raise(other, {&known, 1});
  by_join.join(beside);
  for (const Clock& clock : {by_part, by_join}) {
    Clock all = released;
    all.join(clock);
    CHECK(all.floor(other, warp_slot(0)) == 3);
  }
  // One that has learnt nothing else takes what is new by its version, and its own part stays.
  plain.raise(home, {&known, 1});
  Clock later = released;
  later.join(by_join);
  later.set_snapshot({.of = 1, .version = 2});
  plain.join(later);
  CHECK(plain.floor(other, warp_slot(0)) == 3);
  CHECK(plain.floor(home, warp_slot(0)) == 3);
  CHECK(plain.covers(later));
}

}  // namespace barracuda::detector

#include "host_detector/clock/warp_state.h"

#include <array>
#include <optional>
#include <vector>

#include <catch2/catch.hpp>
#include <rapidcheck.h>

namespace barracuda::detector {
namespace {

constexpr CtaKey kHome = CtaKey(LaunchId{1}, 0x80000001);
constexpr std::uint32_t kWarp = 37;

// States that differ: number n knows CTA n up to n.
ThreadState state_number(std::uint32_t number) {
  ThreadState state{.clock = Clock(kHome), .fences = nullptr};
  const WarpTime known{.slot = warp_slot(0), .lanes = kAllLanes, .time = number};
  state.clock.raise(CtaKey(LaunchId{2}, number), {&known, 1});
  return state;
}

std::uint32_t number_of(const ThreadState& state) {
  for (std::uint32_t number = 1; number < 8; ++number) {
    if (state.clock.floor(CtaKey(LaunchId{2}, number), warp_slot(0)) == number) {
      return number;
    }
  }
  return 0;
}

std::uint32_t lanes_with(const std::array<std::uint32_t, wire::kWarpLanes>& numbers,
                         std::uint32_t among, std::uint32_t number) {
  std::uint32_t lanes = 0;
  for (std::uint32_t rest = among; rest != 0; rest &= rest - 1) {
    lanes |= numbers[first_lane(rest)] == number ? std::uint32_t{1} << first_lane(rest) : 0;
  }
  return lanes;
}

}  // namespace

TEST_CASE("a warp keeps each lane's state while they differ, and one while they do not") {
  CHECK(rc::check([] {
    std::vector<ThreadState> states;
    for (std::uint32_t number = 0; number < 8; ++number) {
      states.push_back(state_number(number));
    }
    std::uint32_t alive = *rc::gen::elementOf(
        std::vector<std::uint32_t>{kAllLanes, 0xFFFF, 1, 0x80000000, 0xF0F0F0F0});
    WarpState warp(kHome, kWarp, alive, states[1].clock);
    warp.set(alive, states[1]);
    std::array<std::uint32_t, wire::kWarpLanes> numbers;
    numbers.fill(1);
    const auto steps = *rc::gen::inRange(0, 30);
    for (int step = 0; step < steps && alive != 0; ++step) {
      const std::uint32_t lanes = *rc::gen::oneOf(
          rc::gen::just(kAllLanes), rc::gen::resize(100, rc::gen::arbitrary<std::uint32_t>()));
      const auto number = *rc::gen::inRange<std::uint32_t>(1, 8);
      switch (*rc::gen::inRange(0, 4)) {
        case 0:
          warp.exit(lanes & 0x11111111);
          alive &= ~(lanes & 0x11111111);
          break;
        case 1:
          warp.set(lanes & alive, states[number]);
          for (std::uint32_t rest = lanes & alive; rest != 0; rest &= rest - 1) {
            numbers[first_lane(rest)] = number;
          }
          break;
        default: {  // every lane goes on to the next number
          warp.change(lanes, [&](std::uint32_t same, const ThreadState& before) {
            RC_ASSERT(same == lanes_with(numbers, lanes & alive, number_of(before)));
            return states[number_of(before) % 7 + 1];
          });
          for (std::uint32_t rest = lanes & alive; rest != 0; rest &= rest - 1) {
            std::uint32_t& mine = numbers[first_lane(rest)];
            mine = mine % 7 + 1;
          }
        }
      }
    }
    RC_ASSERT(warp.alive() == alive);
    RC_ASSERT(warp.absent() == ~alive);
    std::uint32_t visited = 0;
    for (std::uint32_t rest = alive; rest != 0; rest &= rest - 1) {
      RC_ASSERT(number_of(warp.state(first_lane(rest))) == numbers[first_lane(rest)]);
    }
    warp.for_each_state(alive, [&](std::uint32_t same, const ThreadState& state) {
      RC_ASSERT((visited & same) == 0U);
      visited |= same;
      RC_ASSERT(same == lanes_with(numbers, alive, number_of(state)));
    });
    RC_ASSERT(visited == alive);
    if (alive != 0) {
      RC_ASSERT(warp.is_uniform() ==
                (lanes_with(numbers, alive, numbers[first_lane(alive)]) == alive));
    }
  }));
}

TEST_CASE("a warp's own time goes to the lanes that publish and to those that are not there") {
  WarpState warp(kHome, kWarp, 0xFF, Clock(kHome));
  warp.touch(0xFF);
  warp.advance();
  const Clock of_lane = warp.with_own(warp.state(2).clock, 1U << 2, warp.now());
  CHECK(of_lane.at({.cta = kHome, .slot = warp_slot(kWarp), .lane = 2}) == 2);
  CHECK(of_lane.at({.cta = kHome, .slot = warp_slot(kWarp), .lane = 3}) == 0);
  CHECK(of_lane.at({.cta = kHome, .slot = warp_slot(kWarp), .lane = 31}) == 2);
  const Clock of_all = warp.with_own(warp.state(2).clock, 0xFF, warp.now());
  CHECK(of_all.floor(kHome, warp_slot(kWarp)) == 2);
  CHECK(warp.with_own(of_lane, 1, 0).shares_all_with(of_lane));
}

TEST_CASE("a lane that left after an access is not taken for known") {
  WarpState warp(kHome, kWarp, 0xFF, Clock(kHome));
  warp.touch(1);
  warp.exit(3);
  CHECK(warp.absent() == ~std::uint32_t{0xFD});
  const Clock clock = warp.with_own(warp.state(2).clock, 0xFC, warp.now());
  CHECK(clock.at({.cta = kHome, .slot = warp_slot(kWarp), .lane = 0}) == 0);
  CHECK(clock.at({.cta = kHome, .slot = warp_slot(kWarp), .lane = 1}) == 1);
}

TEST_CASE("a warp knows whether its lanes are in one call") {
  WarpState warp(kHome, 0, 0x7, Clock(kHome));
  CHECK(warp.has_one_stack());
  warp.set_stack(1, 5);
  CHECK_FALSE(warp.has_one_stack());
  CHECK(warp.stack(1) == 5);
  CHECK(warp.stack(0) == 0);
  warp.set_stack(0, 5);
  warp.set_stack(2, 5);
  CHECK(warp.has_one_stack());
}

}  // namespace barracuda::detector

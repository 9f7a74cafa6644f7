#include "session/thread_overlap.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include <catch2/catch.hpp>
#include <rapidcheck.h>

namespace barracuda::session {
namespace {

constexpr MemoryRange kRange{.address = 1000, .bytes = 240};

// Whether two threads share a byte of the range, thread by thread and round by round.
class Brute {
 public:
  Brute(const std::vector<Footprint>& footprints, const PartExtents& extents,
        const std::vector<IndexBound>& bounds = {})
      : extents_(extents), bounds_(bounds) {
    std::array<std::int64_t, kMostParts> thread{};
    visit(0, thread, footprints);
  }

  [[nodiscard]] bool shares() const { return shares_; }

 private:
  void visit(std::size_t i, std::array<std::int64_t, kMostParts>& thread,
             const std::vector<Footprint>& footprints) {
    if (i == kMostParts) {
      ++thread_;
      if (!std::ranges::all_of(bounds_, [&](const IndexBound& bound) {
            return value_of(bound.index, thread) <= bound.most;
          })) {
        return;
      }
      for (const Footprint& footprint : footprints) {
        step(footprint, value_of(footprint.address, thread), 0);
      }
      return;
    }
    for (thread.at(i) = 0; thread.at(i) < std::max(extents_.at(i), 1U); ++thread.at(i)) {
      visit(i + 1, thread, footprints);
    }
  }

  static std::int64_t value_of(const AffineAddress& sum,
                               const std::array<std::int64_t, kMostParts>& thread) {
    std::int64_t value = sum.constant;
    for (std::size_t j = 0; j < kMostParts; ++j) {
      value += sum.factors.at(j) * thread.at(j);
    }
    return value;
  }

  void step(const Footprint& footprint, std::int64_t address, std::uint32_t which) {
    if (which == footprint.address.step_count) {
      for (std::int64_t byte = address; byte < address + footprint.bytes; ++byte) {
        touch(byte);
      }
      return;
    }
    for (int round = 0; round < kRounds; ++round) {
      step(footprint, address + round * footprint.address.steps.at(which), which + 1);
    }
  }

  void touch(std::int64_t byte) {
    if (byte >= std::int64_t{kRange.address} &&
        byte < std::int64_t{kRange.address + kRange.bytes}) {
      const auto [owner, is_new] = owners_.try_emplace(byte, thread_);
      shares_ = shares_ || (!is_new && owner->second != thread_);
    }
  }

  static constexpr int kRounds = 12;
  const PartExtents extents_;
  const std::vector<IndexBound> bounds_;
  std::map<std::int64_t, int> owners_;
  int thread_ = 0;
  bool shares_ = false;
};

std::int64_t small(std::int64_t from, std::int64_t to) {
  return *rc::gen::inRange(from, to);
}

// Strides that nest mostly, as they do in programs, and some that do not.
std::vector<Footprint> footprints_for(const PartExtents& extents) {
  AffineAddress address;
  std::int64_t stride = std::int64_t{1} << small(0, 4);
  for (std::size_t i = 0; i < kMostParts; ++i) {
    if (extents.at(i) > 1) {
      address.factors.at(i) = small(0, 6) == 0 ? small(-20, 20) : stride;
      stride *= extents.at(i) + (small(0, 5) == 0 ? 1 : 0);
      address.factors.at(i) *= small(0, 6) == 0 ? -1 : 1;
    }
  }
  const auto steps = static_cast<std::uint32_t>(small(0, 3));
  std::vector<Footprint> footprints;
  const std::int64_t count = small(1, 4);
  for (std::int64_t i = 0; i < count; ++i) {
    Footprint& one = footprints.emplace_back(
        Footprint{.address = address, .bytes = std::uint32_t{1} << small(0, 4)});
    one.address.constant =
        std::int64_t{kRange.address} + (small(0, 3) == 0 ? small(-60, 100) : i * stride);
    if (small(0, 9) == 0) {
      one.address.factors.at(0) += 1;
    }
    for (std::uint32_t s = 0; s < steps; ++s) {
      const std::int64_t step = small(0, 3) == 0 ? small(-9, 40) : count * stride * (s + 1);
      if (step != 0 && (s == 0 || one.address.steps[0] != step)) {
        one.address.steps.at(one.address.step_count++) = step;
      }
    }
  }
  return footprints;
}

// Of some parts together, as `blockIdx.x * blockDim.x + threadIdx.x < width` is, or of any.
std::vector<IndexBound> bounds_for(const AffineAddress& address, const PartExtents& extents) {
  std::vector<IndexBound> bounds;
  for (std::int64_t count = small(0, 3); count > 0; --count) {
    IndexBound& bound = bounds.emplace_back();
    std::int64_t unit = 0, reach = 0;
    for (std::size_t i = 0; i < kMostParts; ++i) {
      const std::int64_t factor = address.factors.at(i);
      if (extents.at(i) > 1 && factor != 0 && small(0, 3) != 0) {
        unit = unit == 0 ? factor : unit;
        bound.index.factors.at(i) = small(0, 6) == 0 ? small(-3, 4) : factor / unit;
        reach += bound.index.factors.at(i) * (extents.at(i) - 1);
      }
    }
    bound.index.constant = small(-2, 3);
    bound.most = bound.index.constant + small(-1, std::max<std::int64_t>(reach, 0) + 2);
  }
  return bounds;
}

// What a guard is for: rows narrower than the blocks over them, and as wide as it says.
std::vector<IndexBound> narrow_rows(std::vector<Footprint>& footprints, PartExtents& extents) {
  extents = {static_cast<std::uint32_t>(small(2, 5)), 1, 1, static_cast<std::uint32_t>(small(2, 4)),
             static_cast<std::uint32_t>(small(2, 4))};
  const std::int64_t threads = std::int64_t{extents[0]} * extents[3];
  const std::int64_t width = small(extents[0], threads);
  footprints.resize(1);
  footprints[0].bytes = 1;
  footprints[0].address = {.constant = std::int64_t{kRange.address},
                           .factors = {1, 0, 0, extents[0], width}};
  return {{.index = {.factors = {1, 0, 0, extents[0]}}, .most = width - 1 + small(0, 2)}};
}

}  // namespace

TEST_CASE("no two threads that a guard lets through share a byte where it is said that none do") {
  int gained = 0;
  CHECK(rc::check([&gained] {
    PartExtents extents{};
    for (std::uint32_t& extent : std::span(extents).first(kThreadNumbers)) {
      extent = *rc::gen::element<std::uint32_t>(1, 1, 2, 3, 4);
    }
    std::vector<Footprint> footprints = footprints_for(extents);
    for (Footprint& footprint : footprints) {  // rows as wide as the guard, not as the grid
      footprint.address.factors.at(1) -= small(0, 2) == 0 ? footprint.address.factors.at(0) : 0;
    }
    const std::vector<IndexBound> bounds = small(0, 4) == 0
                                               ? narrow_rows(footprints, extents)
                                               : bounds_for(footprints.front().address, extents);
    const bool are_apart = are_disjoint(footprints, extents, kRange, bounds);
    RC_ASSERT(!are_apart || !Brute(footprints, extents, bounds).shares());
    gained += are_apart && !are_disjoint(footprints, extents, kRange) ? 1 : 0;
  }));
  CHECK(gained > 0);
}

TEST_CASE("a guard makes rows as wide as it says") {
  // Two blocks of 4 threads, in rows of 6; the second block's last two are none of the row's.
  const AffineAddress row{.constant = 1000, .factors = {1, 0, 0, 4, 6}};
  const std::vector<Footprint> one = {{.address = row, .bytes = 1}};
  const PartExtents extents{4, 1, 1, 2, 3};
  const auto with = [&](const AffineAddress& index, std::int64_t most) {
    const std::vector<IndexBound> bounds = {{.index = index, .most = most}};
    return are_disjoint(one, extents, kRange, bounds);
  };
  const AffineAddress x{.factors = {1, 0, 0, 4}};
  CHECK_FALSE(are_disjoint(one, extents, kRange));
  CHECK(with(x, 5));
  CHECK(with({.constant = 10, .factors = {1, 0, 0, 4}}, 15));
  CHECK_FALSE(with(x, 6));
  CHECK_FALSE(with({.factors = {1, 0, 0, 3}}, 5));
  CHECK_FALSE(with({.factors = {1, 0, 0, 5}}, 5));     // the address goes otherwise
  CHECK_FALSE(with({.factors = {-1, 0, 0, -4}}, -2));  // bounded on the other side
  // Two threads with one index have one address.
  const AffineAddress alike{.constant = 1000, .factors = {1, 0, 0, 3, 6}};
  const std::vector<Footprint> of_two = {{.address = alike, .bytes = 1}};
  const std::vector<IndexBound> bounds = {{.index = {.factors = {1, 0, 0, 3}}, .most = 5}};
  CHECK_FALSE(are_disjoint(of_two, extents, kRange, bounds));
}

TEST_CASE("no two threads share a byte where it is said that none do") {
  CHECK(rc::check([] {
    PartExtents extents{};
    for (std::uint32_t& extent : std::span(extents).first(kThreadNumbers)) {
      extent = *rc::gen::element<std::uint32_t>(1, 1, 2, 3);
    }
    const std::vector<Footprint> footprints = footprints_for(extents);
    const bool are_apart = are_disjoint(footprints, extents, kRange);
    const bool share = Brute(footprints, extents).shares();
    RC_CLASSIFY(are_apart, "apart");
    RC_CLASSIFY(share, "shared");
    RC_CLASSIFY(!are_apart && !share, "not shown");
    RC_ASSERT(!are_apart || !share);
  }));
}

TEST_CASE("what outnumbers the choices that are looked at is not shown") {
  // No sum of 4s and 6s is 1, but there are many.
  const std::vector<Footprint> odd = {
      {.address = {.constant = 1000, .factors = {1}, .steps = {4, 6}, .step_count = 2},
       .bytes = 1}};
  CHECK(are_disjoint(odd, {2, 1, 1, 1, 1, 1}, kRange));
  CHECK_FALSE(are_disjoint(odd, {2, 1, 1, 1, 1, 1}, {.address = 1000, .bytes = 1 << 20}));
}

TEST_CASE("two steps lead where none of them does") {
  const auto with = [](std::int64_t one, std::int64_t other) {
    const std::vector<Footprint> footprints = {
        {.address = {.constant = 1000, .factors = {2}, .steps = {one, other}, .step_count = 2},
         .bytes = 1}};
    return are_disjoint(footprints, {2, 1, 1, 1, 1, 1}, kRange);
  };
  CHECK_FALSE(with(4, 6));
  CHECK(with(4, 8));
  CHECK_FALSE(with(4, -8));  // both ways: not looked at
}

TEST_CASE("accesses of different sizes meet in any of their bytes") {
  const std::vector<Footprint> footprints = {
      {.address = {.constant = 1000, .factors = {5}}, .bytes = 1},
      {.address = {.constant = 1003, .factors = {5}}, .bytes = 4}};
  CHECK_FALSE(are_disjoint(footprints, {2, 1, 1, 1, 1, 1}, kRange));
  CHECK(are_disjoint({footprints.data() + 1, 1}, {2, 1, 1, 1, 1, 1}, kRange));
}

TEST_CASE("a launch of one thread owns all") {
  const std::vector<Footprint> any = {{.address = {.constant = 1000}, .bytes = 8},
                                      {.address = {.constant = 1004}, .bytes = 8}};
  CHECK(are_disjoint(any, {1, 1, 1, 1, 1, 1}, kRange));
  CHECK_FALSE(are_disjoint(any, {2, 1, 1, 1, 1, 1}, kRange));
}

}  // namespace barracuda::session

#include "weak_memory/fence_search/reduction.h"

#include <algorithm>

#include <catch2/catch.hpp>

namespace barracuda::weak_memory {
namespace {

ptx::FencePlace place(std::uint32_t ordinal, std::uint32_t line,
                      std::optional<ptx::Fence> next = {},
                      ptx::StateSpace space = ptx::StateSpace::kGlobal) {
  return {.at = {.function = "f", .ordinal = ordinal},
          .place = line,
          .space = space,
          .kernels = {"f"},
          .lines = {{.file = "a.cu", .line = line}},
          .next = next};
}

ptx::OwnFence own(std::uint32_t ordinal, std::uint32_t line) {
  return {.at = {.function = "f", .ordinal = ordinal},
          .fence = {},
          .kernels = {"f"},
          .lines = {{.file = "a.cu", .line = line}}};
}

std::vector<CandidateFence> candidates(std::uint32_t count) {
  ptx::ModuleFences fences;
  for (std::uint32_t i = 1; i <= count; ++i) {
    fences.places.push_back(place(i, i));
  }
  return candidate_fences(fences);
}

std::vector<std::uint32_t> lines(const std::vector<CandidateFence>& some) {
  std::vector<std::uint32_t> numbers;
  for (const CandidateFence& each : some) {
    numbers.push_back(each.is_own() ? each.own.front().lines.front().line
                                    : each.added.front().place.lines.front().line);
  }
  return numbers;
}

// Whether it holds of each gap that a fence stands in it.
struct Gap {
  std::uint32_t first, last;
};

Passes fills(const std::vector<Gap>& gaps, std::size_t& tests) {
  return [&tests, gaps](const std::vector<CandidateFence>& kept) {
    ++tests;
    const auto numbers = lines(kept);
    return std::ranges::all_of(gaps, [&numbers](const Gap& gap) {
      return std::ranges::any_of(
          numbers, [&gap](std::uint32_t line) { return gap.first <= line && line <= gap.last; });
    });
  };
}

}  // namespace

TEST_CASE("a candidate is a source place without a fence as strong, or the program's own fence") {
  constexpr ptx::Fence kGpu{.order = wire::MemoryOrder::kAcqRel, .scope = wire::Scope::kGpu};
  constexpr ptx::Fence kCta{.order = wire::MemoryOrder::kSeqCst, .scope = wire::Scope::kCta};
  const auto all = candidate_fences(
      {.places = {place(1, 10), place(2, 10), place(3, 11, kGpu), place(5, 12, kCta),
                  place(7, 13, kCta, ptx::StateSpace::kShared)},
       .own = {own(4, 11), own(6, 12), own(9, 12), own(8, 13)}});
  CHECK(lines(all) == std::vector<std::uint32_t>{10, 12, 11, 12, 13});
  CHECK(all[0].added.size() == 2);
  CHECK(all[1].added.front().fence.scope == wire::Scope::kGpu);
  CHECK(all[3].own.size() == 2);
}

TEST_CASE("what is not kept is not added, and taken out if it is the program's") {
  const auto all = candidate_fences({.places = {place(1, 10), place(2, 11)}, .own = {own(3, 12)}});
  const Settings some = with_fences({}, {all[1]}, all);
  REQUIRE(some.fences.size() == 1);
  CHECK(some.fences.front().place.at.ordinal == 2);
  REQUIRE(some.edits.size() == 1);
  CHECK(some.edits.front().at.ordinal == 3);
  CHECK(with_fences(some, all, all).edits.empty());
}

TEST_CASE("the fences that are needed remain, the last of those that would do, and no other") {
  std::size_t tests = 0;
  CHECK(lines(reduced(candidates(64), Stays::kLast, fills({{17, 20}}, tests))) ==
        std::vector<std::uint32_t>{20});
  CHECK(lines(reduced(candidates(50), Stays::kLast, fills({{3, 5}, {20, 20}, {44, 49}}, tests))) ==
        std::vector<std::uint32_t>{5, 20, 49});
  CHECK(lines(reduced(candidates(10), Stays::kLast, fills({{2, 9}, {1, 4}}, tests))) ==
        std::vector<std::uint32_t>{4});
  CHECK(tests < 200);
  CHECK(reduced(candidates(9), Stays::kLast, fills({}, tests)).empty());
  CHECK(reduced({}, Stays::kLast, fills({}, tests)).empty());
  CHECK(lines(reduced(candidates(1), Stays::kLast, fills({{1, 1}}, tests))) ==
        std::vector<std::uint32_t>{1});
  CHECK(lines(reduced(candidates(3), Stays::kLast, fills({{1, 1}, {2, 2}, {3, 3}}, tests))) ==
        std::vector<std::uint32_t>{1, 2, 3});
}

TEST_CASE(
    "the first of those that would do remains where that is wanted, but for the program's own") {
  std::size_t tests = 0;
  CHECK(lines(reduced(candidates(64), Stays::kFirst, fills({{17, 20}}, tests))) ==
        std::vector<std::uint32_t>{17});
  CHECK(lines(reduced(candidates(50), Stays::kFirst, fills({{3, 5}, {20, 20}, {44, 49}}, tests))) ==
        std::vector<std::uint32_t>{3, 20, 44});
  const auto all = candidate_fences(
      {.places = {place(1, 10), place(2, 11), place(3, 12)}, .own = {own(4, 13), own(5, 14)}});
  CHECK(lines(reduced(all, Stays::kFirst, fills({{10, 13}}, tests))) ==
        std::vector<std::uint32_t>{13});
  CHECK(lines(reduced(all, Stays::kFirst, fills({{11, 12}, {14, 14}}, tests))) ==
        std::vector<std::uint32_t>{11, 14});
}

}  // namespace barracuda::weak_memory

#include "host_detector/shadow/word_lists.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>
#include <rapidcheck.h>

namespace barracuda::detector {
namespace {

// All that a cell says.
auto content(const Cell& cell) {
  return std::tuple(cell.bytes.low, cell.bytes.high, cell.value, cell.cta, cell.superseded_by,
                    cell.time, cell.site, cell.stack, cell.sequence, cell.lanes, cell.warp,
                    cell.lane_base, cell.lane_shift, cell.flags);
}

using Content = decltype(content(Cell{}));

template <typename Number>
Number any_number() {
  return *rc::gen::resize(100, rc::gen::arbitrary<Number>());
}

CtaKey any_cta() {
  return {LaunchId{any_number<std::uint32_t>() & WorkId::kMostNumber}, any_number<std::uint32_t>()};
}

Cell any_cell(std::uint32_t word) {
  Cell cell;
  const auto first = *rc::gen::inRange<std::uint32_t>(0, WordLists::kWordBytes);
  cell.bytes = Bytes::range(word * WordLists::kWordBytes + first,
                            *rc::gen::inRange<std::uint32_t>(1, WordLists::kWordBytes + 1 - first));
  cell.cta = any_cta();
  cell.time = any_number<std::uint32_t>();
  cell.site = any_number<std::uint32_t>() & 0xFFFFFFU;
  cell.stack = any_number<std::uint32_t>();
  cell.warp = *rc::gen::inRange<std::uint8_t>(0, 32);
  cell.flags = any_number<std::uint8_t>() & 0x7FU;
  switch (*rc::gen::inRange(0, 3)) {
    case 0:
      cell.lane_base = any_number<std::int8_t>();
      cell.lane_shift = *rc::gen::inRange<std::uint8_t>(0, 8) & 7U;
      break;
    case 1:
      cell.lanes = std::uint32_t{1} << *rc::gen::inRange(0, 32);
      break;
    default:
      cell.lanes = any_number<std::uint32_t>() | 3;
  }
  switch (*rc::gen::inRange(0, 5)) {
    case 0:
      cell.value = any_number<std::uint64_t>();
      break;
    case 1:
      cell.superseded_by = any_cta();
      break;
    case 2:
      cell.sequence = any_number<std::uint32_t>();
      break;
    default:
      break;
  }
  if (cell.is_asynchronous() && cell.lanes != 0) {
    cell.set_extent(16 * *rc::gen::inRange<std::uint32_t>(0, 1 << 16));
  }
  return cell;
}

std::vector<Content> contents(const std::vector<Cell>& cells) {
  std::vector<Content> all;
  for (const Cell& cell : cells) {
    all.push_back(content(cell));
  }
  return all;
}

constexpr std::uint32_t kWord = 3;

// Of lanes of a warp, to the whole word.
Cell atomic(std::uint8_t warp, std::uint32_t lanes) {
  Cell cell;
  cell.bytes = WordLists::bytes_of(kWord);
  cell.cta = CtaKey(LaunchId{1}, 5);
  cell.time = 7;
  cell.site = 9;
  cell.warp = warp;
  cell.lanes = lanes;
  cell.flags = Cell::kReads | Cell::kWrites;
  return cell;
}

}  // namespace

TEST_CASE("the lists of words keep every cell as it is, packed or not") {
  CHECK(rc::check([] {
    WordLists lists;
    std::array<std::vector<Cell>, WordLists::kWords> model;
    const auto steps = *rc::gen::inRange(1, 60);
    const auto words = *rc::gen::inRange<std::uint32_t>(1, WordLists::kWords + 1);
    for (int step = 0; step < steps; ++step) {
      const auto word = *rc::gen::inRange<std::uint32_t>(0, words);
      const Cell cell = any_cell(word);
      switch (*rc::gen::inRange(0, 4)) {
        case 0:
          lists.visit(word, [](AccessHistory& history) { history.cells.clear(); });
          model[word].clear();
          break;
        case 1:
          lists.add(word, cell);
          model[word].push_back(cell);
          break;
        case 2:  // many at once
          lists.visit(word, [&](AccessHistory& history) { history.cells.assign(12, cell); });
          model[word].assign(12, cell);
          break;
        default:
          lists.visit(word, [&](AccessHistory& history) {
            if (!history.cells.empty()) {
              history.cells.erase(history.cells.begin());
            }
            history.cells.push_back(cell);
          });
          if (!model[word].empty()) {
            model[word].erase(model[word].begin());
          }
          model[word].push_back(cell);
      }
    }
    std::vector<Cell> all;
    for (std::uint32_t word = 0; word < WordLists::kWords; ++word) {
      RC_ASSERT(lists.is_empty(word) == model[word].empty());
      std::vector<Cell> kept;
      lists.visit(word, [&](AccessHistory& history) {
        kept.assign(history.cells.begin(), history.cells.end());
      });
      RC_ASSERT(contents(kept) == contents(model[word]));
      all.insert(all.end(), model[word].begin(), model[word].end());
    }
    std::vector<Cell> seen;
    lists.look_at([&](const Cell& cell) { seen.push_back(cell); });
    RC_ASSERT(contents(seen) == contents(all));
    RC_ASSERT(lists.is_empty() == all.empty());
  }));
}

TEST_CASE("a cell joins a list in which it has nobody to meet but its own moment") {
  constexpr PassesBy kPasses = PassesBy::kOtherWarps;
  WordLists lists;
  std::vector<Cell> kept{atomic(0, 1), atomic(1, 2)};
  const auto joins = [&](const Cell& cell, PassesBy passes_by) {
    const bool is_in = lists.join(kWord, cell, passes_by);
    std::vector<Cell> seen;
    lists.look_at([&](const Cell& one) { seen.push_back(one); });
    CHECK(contents(seen) == contents(kept));
    return is_in;
  };
  lists.add(kWord, kept[0]);
  lists.add(kWord, kept[1]);

  CHECK_FALSE(joins(atomic(1, 4), PassesBy::kNobody));
  CHECK_FALSE(joins(atomic(1, 4), PassesBy::kOtherCtas));
  Cell later = atomic(1, 2);
  ++later.time;
  CHECK_FALSE(joins(later, kPasses));
  Cell of_other_site = atomic(2, 1);
  ++of_other_site.site;
  CHECK_FALSE(joins(of_other_site, kPasses));
  Cell called_elsewhere = atomic(1, 4);
  ++called_elsewhere.stack;
  CHECK_FALSE(joins(called_elsewhere, kPasses));

  CHECK(joins(kept[1], kPasses));  // the same lane again
  kept[1].lanes |= 4;
  CHECK(joins(atomic(1, 4), kPasses));
  kept[1].lanes |= 8;
  CHECK(joins(atomic(1, 8), kPasses));
  constexpr auto kMost = static_cast<std::uint8_t>(WordLists::kMostPacked);
  for (std::uint8_t warp = 2; warp < kMost; ++warp) {
    kept.push_back(atomic(warp, 1));
    CHECK(joins(kept.back(), kPasses));
  }
  CHECK_FALSE(joins(atomic(kMost, 1), kPasses));  // one more than are packed
  kept.back().lanes |= 2;
  CHECK(joins(atomic(kMost - 1, 2), kPasses));
}

TEST_CASE("a lane is recorded if every cell of its word is one that it passes, drops or becomes") {
  constexpr std::uint32_t kOffset = kWord * WordLists::kWordBytes;
  Cell older = atomic(2, 1);
  older.site = 8;
  WordLists lists;
  std::vector<Cell> kept{atomic(0, 1), older, atomic(1, 2)};
  for (const Cell& cell : kept) {
    lists.add(kWord, cell);
  }
  const auto records = [&](std::uint8_t warp, std::uint32_t lane, PassesBy passes_by,
                           Meeting meeting) {
    const auto alike = WordLists::Alike::of(atomic(warp, 1), passes_by);
    REQUIRE(alike.has_value());
    std::vector<Cell> met;
    const bool is_in = lists.record({std::uint32_t{1} << lane, kOffset, WordLists::kWordBytes},
                                    *alike, [&](const Cell& cell) {
                                      met.push_back(cell);
                                      return meeting;
                                    });
    std::vector<Cell> seen;
    lists.look_at([&](const Cell& one) { seen.push_back(one); });
    CHECK(contents(seen) == contents(kept));
    CHECK(lists.is_valid());
    return std::pair(is_in, met.size());
  };
  using Result = std::pair<bool, std::size_t>;
  // Nobody is passed by: the first that is to be visited ends it.
  CHECK(records(1, 1, PassesBy::kNobody, Meeting::kIsToBeVisited) == Result(false, 1));
  // One of its warp, and not of its lane, is not passed by and becomes one with it.
  CHECK(records(1, 4, PassesBy::kOtherWarps, Meeting::kIsToBeVisited) == Result(false, 1));
  kept[2].lanes |= 16;
  CHECK(records(1, 4, PassesBy::kOtherWarps, Meeting::kStays) == Result(true, 1));
  kept[2].lanes |= 32;
  kept.erase(kept.begin() + 1);
  CHECK(records(1, 5, PassesBy::kOtherWarps, Meeting::kGoes) == Result(true, 1));
  kept.push_back(atomic(4, 8));
  CHECK(records(4, 3, PassesBy::kOtherWarps, Meeting::kIsToBeVisited) == Result(true, 0));
  // All go, the last too.
  kept.assign({atomic(6, 1)});
  CHECK(records(6, 0, PassesBy::kNobody, Meeting::kGoes) == Result(true, 3));
}

TEST_CASE("a lane is not recorded where a word is full, nor with what no slot holds") {
  Cell cell;
  cell.bytes = WordLists::bytes_of(0);
  cell.lanes = 1;
  const auto alike = WordLists::Alike::of(cell, PassesBy::kNobody);
  const auto stays = [](const Cell&) { return Meeting::kStays; };
  WordLists lists;
  for (std::uint32_t count = 0; count < WordLists::kMostPacked; ++count) {
    CHECK(lists.record({1, 0, 4}, *alike, stays));
  }
  CHECK_FALSE(lists.record({1, 0, 4}, *alike, stays));
  CHECK(lists.record({1, 4, 4}, *alike, stays));
  cell.value = 1;
  CHECK_FALSE(WordLists::Alike::of(cell, PassesBy::kNobody).has_value());
}

TEST_CASE("a cell that has somebody to meet does not join, not even one of its own moment") {
  Cell own;
  own.bytes = WordLists::bytes_of(0);
  own.lanes = 1;
  Cell other = own;
  ++other.site;
  WordLists lists;
  lists.add(0, other);
  lists.add(0, own);
  own.lanes = 2;
  CHECK_FALSE(lists.join(0, own, PassesBy::kOtherWarps));
}

TEST_CASE("a word keeps its shared set until that is gone") {
  WordLists lists;
  Cell cell;
  cell.bytes = WordLists::bytes_of(3);
  lists.visit(3, [&](AccessHistory& history) {
    history.shared_sets.emplace_back(SharedAccessKind::kReads);
    history.shared_sets.back().add(cell);
  });
  lists.add(3, cell);
  lists.visit(3, [](AccessHistory& history) {
    REQUIRE(history.shared_sets.size() == 1);
    CHECK(history.cells.size() == 1);
    history.shared_sets.clear();
  });
  CHECK_FALSE(lists.is_empty(3));
  lists.visit(3, [](AccessHistory& history) {
    CHECK(history.shared_sets.empty());
    CHECK(history.cells.size() == 1);
    history.cells.clear();
  });
  CHECK(lists.is_empty());
}

}  // namespace barracuda::detector

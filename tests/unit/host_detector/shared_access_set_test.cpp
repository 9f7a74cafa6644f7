#include "host_detector/shadow/shared_access_set.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include <catch2/catch.hpp>
#include <rapidcheck.h>

namespace barracuda::detector {
namespace {

// What is kept, in an order of its own.
using Told = std::tuple<std::uint64_t, std::uint32_t, Time, std::uint32_t, std::uint32_t, bool>;

Told told(const Cell& cell) {
  return {cell.cta.packed(), cell.warp, cell.time, cell.lanes, cell.site, cell.is_superseded()};
}

std::multiset<Told> all_of(const SharedAccessSet& shared_set) {
  std::multiset<Told> all;
  shared_set.look_at([&](const Cell& cell) { all.insert(told(cell)); });
  return all;
}

std::multiset<Told> all_of(const std::vector<Cell>& cells) {
  std::multiset<Told> all;
  std::ranges::transform(cells, std::inserter(all, all.end()), told);
  return all;
}

Cell read_of(std::uint32_t cta, std::uint8_t warp, Time time = 1) {
  Cell cell;
  cell.bytes = Bytes::upto(4);
  cell.cta = CtaKey(LaunchId{1}, cta);
  cell.warp = warp;
  cell.lanes = 1;
  cell.time = time;
  return cell;
}

Cell any_cell() {
  Cell cell = read_of(*rc::gen::inRange<std::uint32_t>(0, 4),
                      *rc::gen::inRange<std::uint8_t>(0, 32), *rc::gen::inRange<Time>(1, 4));
  cell.cta = CtaKey(LaunchId{*rc::gen::inRange<std::uint32_t>(1, 3)}, cell.cta_index());
  cell.lanes = *rc::gen::inRange<std::uint32_t>(1, 8);
  cell.site = *rc::gen::inRange<std::uint32_t>(0, 3);
  return cell;
}

// Something that a visit may make of a cell.
void any_change(Cell& cell, std::uint32_t what) {
  switch (what) {
    case 0:
      cell.bytes = Bytes{};
      break;
    case 1:
      cell.lanes |= 8;
      break;
    case 2:
      cell.superseded_by = CtaKey(LaunchId{1}, 9);
      break;
    case 3:
      ++cell.time;
      break;
    default:
      break;
  }
}

}  // namespace

TEST_CASE(
    "the warps of a block that did the same are one member of a shared set, and each its own") {
  SharedAccessSet shared_set(SharedAccessKind::kReads);
  std::vector<Cell> cells;
  for (const std::uint32_t cta : {0U, 1U}) {
    for (std::uint8_t warp = 0; warp < 32; ++warp) {
      cells.push_back(read_of(cta, warp));
      shared_set.add(cells.back());
    }
  }
  CHECK(shared_set.size() == 2);
  CHECK(all_of(shared_set) == all_of(cells));

  CHECK(shared_set.any_recent_of_warp(read_of(1, 31), [](Cell& recent) {
    recent.lanes |= 2;
    return true;
  }));
  cells.back().lanes |= 2;
  CHECK(all_of(shared_set) == all_of(cells));
  CHECK_FALSE(shared_set.any_recent_of_warp(read_of(2, 0), [](const Cell&) { return true; }));

  shared_set.update([](Cell& cell) { cell.bytes = cell.warp == 31 ? cell.bytes : Bytes{}; });
  CHECK(all_of(shared_set) == all_of(std::vector{cells[31], cells.back()}));
  shared_set.update([](Cell& cell) { cell.bytes = Bytes{}; });
  CHECK(shared_set.is_empty());
}

TEST_CASE("a shared set keeps what it is given, and what is made of it") {
  CHECK(rc::check([] {
    SharedAccessSet shared_set(SharedAccessKind::kReads);
    std::vector<Cell> cells;
    const auto change_all = [&](auto changes) {
      std::ranges::for_each(cells, changes);
      std::erase_if(cells, [](const Cell& cell) { return cell.bytes.none(); });
    };
    const auto steps = *rc::gen::inRange(0, 300);
    for (int step = 0; step < steps; ++step) {
      const Cell cell = any_cell();
      const auto what = *rc::gen::inRange<std::uint32_t>(0, 40);
      if (what == 0) {
        const auto change = *rc::gen::inRange<std::uint32_t>(0, 5);
        const auto changes = [&](Cell& each) {
          any_change(each, each.warp % 2 == cell.warp % 2 ? change : 5);
        };
        shared_set.update(changes);
        change_all(changes);
      } else if (what == 1) {
        shared_set.compact([](const Cell&, Cell&) {});
      } else if (what < 10) {
        Told met{};
        const bool is_found = shared_set.any_recent_of_warp(cell, [&](Cell& recent) {
          met = told(recent);
          any_change(recent, what % 5);
          return true;
        });
        const auto place = std::ranges::find(cells, met, told);
        RC_ASSERT(is_found == (place != cells.end()));
        if (is_found) {
          RC_ASSERT(std::get<0>(met) == cell.cta.packed());
          RC_ASSERT(std::get<1>(met) == cell.warp);
          any_change(*place, what % 5);
          change_all([](Cell&) {});
        }
      } else {
        shared_set.add(cell);
        cells.push_back(cell);
      }
      RC_ASSERT(shared_set.is_empty() == cells.empty());
      RC_ASSERT(shared_set.size() <= cells.size());
    }
    RC_ASSERT(all_of(shared_set) == all_of(cells));
  }));
}

TEST_CASE("a shared set that was compacted takes no warp's cell for another's") {
  SharedAccessSet shared_set(SharedAccessKind::kReads);
  constexpr std::uint32_t kCtas = 64;
  for (std::uint32_t cta = kCtas; cta-- > 0;) {
    shared_set.add(read_of(cta, 0));
  }
  REQUIRE(shared_set.should_compact());
  shared_set.compact([](const Cell&, Cell& older) { older.bytes = Bytes{}; });
  CHECK(shared_set.size() == kCtas);
  for (std::uint32_t cta = 0; cta < kCtas; ++cta) {
    CHECK_FALSE(shared_set.any_recent_of_warp(
        read_of(cta, 0), [&](const Cell& recent) { return recent.cta_index() != cta; }));
  }
}

TEST_CASE("a shared set forgets what its lanes did again later, and nothing else") {
  CHECK(rc::check([] {
    SharedAccessSet shared_set(SharedAccessKind::kAtomics4);
    std::map<std::array<std::uint32_t, 3>, Time> last;  // of each CTA, warp and lane
    const auto cut = [](const Cell& newer, Cell& older) {
      older.lanes &= ~newer.lanes;
      older.bytes = older.lanes == 0 ? Bytes{} : older.bytes;
    };
    const auto count = *rc::gen::inRange<Time>(0, 2000);
    const auto warps = *rc::gen::inRange<std::uint32_t>(1, 40);
    for (Time time = 1; time <= count; ++time) {
      Cell cell;
      cell.bytes = Bytes::upto(4);
      cell.cta = CtaKey(LaunchId{1}, *rc::gen::inRange<std::uint32_t>(0, warps));
      cell.warp = *rc::gen::inRange<std::uint8_t>(0, 2);
      cell.lanes = std::uint32_t{1} << *rc::gen::inRange(0, 3);
      cell.time = time;
      last[{cell.cta_index(), cell.warp, cell.lanes}] = time;
      shared_set.add(cell);
      if (shared_set.should_compact()) {
        shared_set.compact(cut);
      }
      RC_ASSERT(shared_set.size() <= std::max<std::size_t>(64, 2 * last.size()));
    }
    shared_set.compact(cut);
    std::size_t kept = 0;
    shared_set.look_at([&](const Cell& cell) {
      ++kept;
      RC_ASSERT((last[{cell.cta_index(), cell.warp, cell.lanes}] == cell.time));
    });
    RC_ASSERT(kept == last.size());
  }));
}

}  // namespace barracuda::detector

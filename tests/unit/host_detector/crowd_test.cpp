#include "host_detector/shadow/crowd.h"

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
using Told = std::tuple<std::uint64_t, std::uint32_t, Tick, std::uint32_t, std::uint32_t, bool>;

Told told(const Entry& entry) {
  return {static_cast<std::uint64_t>(entry.cta),
          entry.warp,
          entry.tick,
          entry.lanes,
          entry.site,
          entry.is_superseded()};
}

std::multiset<Told> all_of(const Crowd& crowd) {
  std::multiset<Told> all;
  crowd.look_at([&](const Entry& entry) { all.insert(told(entry)); });
  return all;
}

std::multiset<Told> all_of(const std::vector<Entry>& entries) {
  std::multiset<Told> all;
  std::ranges::transform(entries, std::inserter(all, all.end()), told);
  return all;
}

Entry read_of(std::uint32_t cta, std::uint8_t warp, Tick tick = 1) {
  Entry entry;
  entry.bytes = Bytes::upto(4);
  entry.cta = cta_key(LaunchId{1}, cta);
  entry.warp = warp;
  entry.lanes = 1;
  entry.tick = tick;
  return entry;
}

Entry any_entry() {
  Entry entry = read_of(*rc::gen::inRange<std::uint32_t>(0, 4),
                        *rc::gen::inRange<std::uint8_t>(0, 32), *rc::gen::inRange<Tick>(1, 4));
  entry.cta = cta_key(LaunchId{*rc::gen::inRange<std::uint32_t>(1, 3)}, entry.cta_index());
  entry.lanes = *rc::gen::inRange<std::uint32_t>(1, 8);
  entry.site = *rc::gen::inRange<std::uint32_t>(0, 3);
  return entry;
}

// Something that a visit may make of an entry.
void any_change(Entry& entry, std::uint32_t what) {
  switch (what) {
    case 0:
      entry.bytes = Bytes{};
      break;
    case 1:
      entry.lanes |= 8;
      break;
    case 2:
      entry.superseded_by = cta_key(LaunchId{1}, 9);
      break;
    case 3:
      ++entry.tick;
      break;
    default:
      break;
  }
}

}  // namespace

TEST_CASE("the warps of a block that did the same are one member of a crowd, and each its own") {
  Crowd crowd(CrowdKind::kReads);
  std::vector<Entry> entries;
  for (const std::uint32_t cta : {0U, 1U}) {
    for (std::uint8_t warp = 0; warp < 32; ++warp) {
      entries.push_back(read_of(cta, warp));
      crowd.add(entries.back());
    }
  }
  CHECK(crowd.size() == 2);
  CHECK(all_of(crowd) == all_of(entries));

  CHECK(crowd.any_recent_of_warp(read_of(1, 31), [](Entry& recent) {
    recent.lanes |= 2;
    return true;
  }));
  entries.back().lanes |= 2;
  CHECK(all_of(crowd) == all_of(entries));
  CHECK_FALSE(crowd.any_recent_of_warp(read_of(2, 0), [](const Entry&) { return true; }));

  crowd.update([](Entry& entry) { entry.bytes = entry.warp == 31 ? entry.bytes : Bytes{}; });
  CHECK(all_of(crowd) == all_of(std::vector{entries[31], entries.back()}));
  crowd.update([](Entry& entry) { entry.bytes = Bytes{}; });
  CHECK(crowd.is_empty());
}

TEST_CASE("a crowd keeps what it is given, and what is made of it") {
  CHECK(rc::check([] {
    Crowd crowd(CrowdKind::kReads);
    std::vector<Entry> entries;
    const auto change_all = [&](auto changes) {
      std::ranges::for_each(entries, changes);
      std::erase_if(entries, [](const Entry& entry) { return entry.bytes.none(); });
    };
    const auto steps = *rc::gen::inRange(0, 300);
    for (int step = 0; step < steps; ++step) {
      const Entry entry = any_entry();
      const auto what = *rc::gen::inRange<std::uint32_t>(0, 40);
      if (what == 0) {
        const auto change = *rc::gen::inRange<std::uint32_t>(0, 5);
        const auto changes = [&](Entry& each) {
          any_change(each, each.warp % 2 == entry.warp % 2 ? change : 5);
        };
        crowd.update(changes);
        change_all(changes);
      } else if (what == 1) {
        crowd.compact([](const Entry&, Entry&) {});
      } else if (what < 10) {
        Told met{};
        const bool is_found = crowd.any_recent_of_warp(entry, [&](Entry& recent) {
          met = told(recent);
          any_change(recent, what % 5);
          return true;
        });
        const auto place = std::ranges::find(entries, met, told);
        RC_ASSERT(is_found == (place != entries.end()));
        if (is_found) {
          RC_ASSERT(std::get<0>(met) == static_cast<std::uint64_t>(entry.cta));
          RC_ASSERT(std::get<1>(met) == entry.warp);
          any_change(*place, what % 5);
          change_all([](Entry&) {});
        }
      } else {
        crowd.add(entry);
        entries.push_back(entry);
      }
      RC_ASSERT(crowd.is_empty() == entries.empty());
      RC_ASSERT(crowd.size() <= entries.size());
    }
    RC_ASSERT(all_of(crowd) == all_of(entries));
  }));
}

TEST_CASE("a crowd that was compacted takes no warp's entry for another's") {
  Crowd crowd(CrowdKind::kReads);
  constexpr std::uint32_t kCtas = 64;
  for (std::uint32_t cta = kCtas; cta-- > 0;) {
    crowd.add(read_of(cta, 0));
  }
  REQUIRE(crowd.should_compact());
  crowd.compact([](const Entry&, Entry& older) { older.bytes = Bytes{}; });
  CHECK(crowd.size() == kCtas);
  for (std::uint32_t cta = 0; cta < kCtas; ++cta) {
    CHECK_FALSE(crowd.any_recent_of_warp(
        read_of(cta, 0), [&](const Entry& recent) { return recent.cta_index() != cta; }));
  }
}

TEST_CASE("a crowd forgets what its lanes did again later, and nothing else") {
  CHECK(rc::check([] {
    Crowd crowd(CrowdKind::kAtomics4);
    std::map<std::array<std::uint32_t, 3>, Tick> last;  // of each CTA, warp and lane
    const auto cut = [](const Entry& newer, Entry& older) {
      older.lanes &= ~newer.lanes;
      older.bytes = older.lanes == 0 ? Bytes{} : older.bytes;
    };
    const auto count = *rc::gen::inRange<Tick>(0, 2000);
    const auto warps = *rc::gen::inRange<std::uint32_t>(1, 40);
    for (Tick tick = 1; tick <= count; ++tick) {
      Entry entry;
      entry.bytes = Bytes::upto(4);
      entry.cta = cta_key(LaunchId{1}, *rc::gen::inRange<std::uint32_t>(0, warps));
      entry.warp = *rc::gen::inRange<std::uint8_t>(0, 2);
      entry.lanes = std::uint32_t{1} << *rc::gen::inRange(0, 3);
      entry.tick = tick;
      last[{entry.cta_index(), entry.warp, entry.lanes}] = tick;
      crowd.add(entry);
      if (crowd.should_compact()) {
        crowd.compact(cut);
      }
      RC_ASSERT(crowd.size() <= std::max<std::size_t>(64, 2 * last.size()));
    }
    crowd.compact(cut);
    std::size_t kept = 0;
    crowd.look_at([&](const Entry& entry) {
      ++kept;
      RC_ASSERT((last[{entry.cta_index(), entry.warp, entry.lanes}] == entry.tick));
    });
    RC_ASSERT(kept == last.size());
  }));
}

}  // namespace barracuda::detector

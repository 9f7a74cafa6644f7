#include "host_detector/shadow/word_lists.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <vector>

#include <catch2/catch.hpp>
#include <rapidcheck.h>

namespace barracuda::detector {
namespace {

// All that an entry says.
auto content(const Entry& entry) {
  return std::tuple(entry.bytes.low, entry.bytes.high, entry.value, entry.cta, entry.superseded_by,
                    entry.tick, entry.site, entry.stack, entry.sequence, entry.lanes, entry.warp,
                    entry.lane_base, entry.lane_shift, entry.flags);
}

using Content = decltype(content(Entry{}));

template <typename Number>
Number any_number() {
  return *rc::gen::resize(100, rc::gen::arbitrary<Number>());
}

Entry any_entry(std::uint32_t word) {
  Entry entry;
  const auto first = *rc::gen::inRange<std::uint32_t>(0, WordLists::kWordBytes);
  entry.bytes =
      Bytes::range(word * WordLists::kWordBytes + first,
                   *rc::gen::inRange<std::uint32_t>(1, WordLists::kWordBytes + 1 - first));
  entry.cta = CtaKey{any_number<std::uint64_t>()};
  entry.tick = any_number<std::uint32_t>();
  entry.site = any_number<std::uint32_t>() & 0xFFFFFFU;
  entry.stack = any_number<std::uint32_t>();
  entry.warp = *rc::gen::inRange<std::uint8_t>(0, 32);
  entry.flags = any_number<std::uint8_t>() & 0x7FU;
  switch (*rc::gen::inRange(0, 3)) {
    case 0:
      entry.lane_base = any_number<std::int8_t>();
      entry.lane_shift = *rc::gen::inRange<std::uint8_t>(0, 8) & 7U;
      break;
    case 1:
      entry.lanes = std::uint32_t{1} << *rc::gen::inRange(0, 32);
      break;
    default:
      entry.lanes = any_number<std::uint32_t>() | 3;
  }
  switch (*rc::gen::inRange(0, 5)) {
    case 0:
      entry.value = any_number<std::uint64_t>();
      break;
    case 1:
      entry.superseded_by = CtaKey{any_number<std::uint64_t>()};
      break;
    case 2:
      entry.sequence = any_number<std::uint32_t>();
      break;
    default:
      break;
  }
  if (entry.is_asynchronous() && entry.lanes != 0) {
    entry.set_extent(16 * *rc::gen::inRange<std::uint32_t>(0, 1 << 16));
  }
  return entry;
}

std::vector<Content> contents(const std::vector<Entry>& entries) {
  std::vector<Content> all;
  for (const Entry& entry : entries) {
    all.push_back(content(entry));
  }
  return all;
}

}  // namespace

TEST_CASE("the lists of words keep every entry as it is, packed or not") {
  CHECK(rc::check([] {
    WordLists lists;
    std::array<std::vector<Entry>, WordLists::kWords> model;
    const auto steps = *rc::gen::inRange(1, 60);
    const auto words = *rc::gen::inRange<std::uint32_t>(1, WordLists::kWords + 1);
    for (int step = 0; step < steps; ++step) {
      const auto word = *rc::gen::inRange<std::uint32_t>(0, words);
      const Entry entry = any_entry(word);
      switch (*rc::gen::inRange(0, 4)) {
        case 0:
          lists.visit(word, [](History& history) { history.entries.clear(); });
          model[word].clear();
          break;
        case 1:
          lists.add(word, entry);
          model[word].push_back(entry);
          break;
        case 2:  // many at once
          lists.visit(word, [&](History& history) { history.entries.assign(12, entry); });
          model[word].assign(12, entry);
          break;
        default:
          lists.visit(word, [&](History& history) {
            if (!history.entries.empty()) {
              history.entries.erase(history.entries.begin());
            }
            history.entries.push_back(entry);
          });
          if (!model[word].empty()) {
            model[word].erase(model[word].begin());
          }
          model[word].push_back(entry);
      }
    }
    std::vector<Entry> all;
    for (std::uint32_t word = 0; word < WordLists::kWords; ++word) {
      RC_ASSERT(lists.is_empty(word) == model[word].empty());
      std::vector<Entry> kept;
      lists.visit(word, [&](History& history) {
        kept.assign(history.entries.begin(), history.entries.end());
      });
      RC_ASSERT(contents(kept) == contents(model[word]));
      all.insert(all.end(), model[word].begin(), model[word].end());
    }
    std::vector<Entry> seen;
    lists.look_at([&](const Entry& entry) { seen.push_back(entry); });
    RC_ASSERT(contents(seen) == contents(all));
    RC_ASSERT(lists.is_empty() == all.empty());
  }));
}

TEST_CASE("an entry joins a list in which it has nobody to meet but its own moment") {
  constexpr std::uint32_t kWord = 3;
  constexpr PassesBy kPasses = PassesBy::kOtherWarps;
  const auto atomic = [](std::uint8_t warp, std::uint32_t lanes) {
    Entry entry;
    entry.bytes = WordLists::bytes_of(kWord);
    entry.cta = CtaKey{5};
    entry.tick = 7;
    entry.site = 9;
    entry.warp = warp;
    entry.lanes = lanes;
    entry.flags = Entry::kReads | Entry::kWrites;
    return entry;
  };
  WordLists lists;
  std::vector<Entry> kept{atomic(0, 1), atomic(1, 2)};
  const auto joins = [&](const Entry& entry, PassesBy passes_by) {
    const bool is_in = lists.join(kWord, entry, passes_by);
    std::vector<Entry> seen;
    lists.look_at([&](const Entry& one) { seen.push_back(one); });
    CHECK(contents(seen) == contents(kept));
    return is_in;
  };
  lists.add(kWord, kept[0]);
  lists.add(kWord, kept[1]);

  CHECK_FALSE(joins(atomic(1, 4), PassesBy::kNobody));
  CHECK_FALSE(joins(atomic(1, 4), PassesBy::kOtherCtas));
  Entry later = atomic(1, 2);
  ++later.tick;
  CHECK_FALSE(joins(later, kPasses));
  Entry of_other_site = atomic(2, 1);
  ++of_other_site.site;
  CHECK_FALSE(joins(of_other_site, kPasses));
  Entry called_elsewhere = atomic(1, 4);
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

TEST_CASE("an entry that has somebody to meet does not join, not even one of its own moment") {
  Entry own;
  own.bytes = WordLists::bytes_of(0);
  own.lanes = 1;
  Entry other = own;
  ++other.site;
  WordLists lists;
  lists.add(0, other);
  lists.add(0, own);
  own.lanes = 2;
  CHECK_FALSE(lists.join(0, own, PassesBy::kOtherWarps));
}

TEST_CASE("a word keeps its crowd until that is gone") {
  WordLists lists;
  Entry entry;
  entry.bytes = WordLists::bytes_of(3);
  lists.visit(3, [&](History& history) {
    history.crowds.emplace_back(CrowdKind::kReads);
    history.crowds.back().add(entry);
  });
  lists.add(3, entry);
  lists.visit(3, [](History& history) {
    REQUIRE(history.crowds.size() == 1);
    CHECK(history.entries.size() == 1);
    history.crowds.clear();
  });
  CHECK_FALSE(lists.is_empty(3));
  lists.visit(3, [](History& history) {
    CHECK(history.crowds.empty());
    CHECK(history.entries.size() == 1);
    history.entries.clear();
  });
  CHECK(lists.is_empty());
}

}  // namespace barracuda::detector

#include "host_detector/shadow/shadow_memory.h"

#include <array>
#include <bitset>
#include <map>
#include <set>
#include <vector>

#include <catch2/catch.hpp>
#include <rapidcheck.h>

namespace barracuda::detector {
namespace {

using Bits = std::bitset<kBlockBytes>;

Bits bits_of(const Bytes& bytes) {
  Bits bits;
  for (std::uint32_t byte = 0; byte < kBlockBytes; ++byte) {
    bits[byte] = bytes.has(byte);
  }
  return bits;
}

Bytes any_range() {
  const auto first = *rc::gen::inRange<std::uint32_t>(0, kBlockBytes);
  return Bytes::range(first, *rc::gen::inRange<std::uint32_t>(0, kBlockBytes + 1 - first));
}

// The shapes that accesses have: whole blocks, coalesced runs with some lanes missing, elements.
Bytes any_access() {
  const auto width = std::uint32_t{1} << *rc::gen::inRange(0, 4);
  switch (*rc::gen::inRange(0, 4)) {
    case 0:
      return Bytes::upto(kBlockBytes);
    case 1: {
      Bytes some;
      const auto lanes = *rc::gen::resize(100, rc::gen::arbitrary<std::uint32_t>());
      for (std::uint32_t lane = 0; lane < kBlockBytes / width && lane < 32; ++lane) {
        if ((lanes >> lane & 1) != 0) {
          some = some | Bytes::range(lane * width, width);
        }
      }
      return some.none() ? Bytes::range(0, width) : some;
    }
    default:
      return Bytes::range(*rc::gen::inRange<std::uint32_t>(0, kBlockBytes / width) * width, width);
  }
}

// Which accesses touched each byte.
using Touched = std::map<std::uint64_t, std::set<std::uint32_t>>;

void record(Block& block, const Bytes& bytes, std::uint32_t id) {
  Cell cell;
  cell.bytes = bytes;
  cell.site = id;
  cell.lanes = 1;
  block.for_each_history(cell, {.is_recorded = true},
                         [](AccessHistory& history, const Cell& part, bool records) {
                           if (records) {
                             history.cells.push_back(part);
                           }
                         });
}

Touched look_up(Block& block, std::uint64_t start, const Bytes& bytes) {
  Touched found;
  Cell probe;
  probe.bytes = bytes;
  block.for_each_history(probe, {}, [&](AccessHistory& history, const Cell& part, bool) {
    RC_ASSERT(part.bytes.within(bytes));
    for (const Cell& cell : history.cells) {
      for (std::uint32_t byte = 0; byte < kBlockBytes; ++byte) {
        if (cell.bytes.has(byte) && part.bytes.has(byte)) {
          RC_ASSERT(found[start + byte].insert(cell.site).second);  // met once
        }
      }
    }
  });
  return found;
}

Touched expected(const Touched& all, std::uint64_t start, const Bytes& bytes) {
  Touched wanted;
  for (std::uint32_t byte = 0; byte < kBlockBytes; ++byte) {
    const auto place = all.find(start + byte);
    if (bytes.has(byte) && place != all.end() && !place->second.empty()) {
      wanted[start + byte] = place->second;
    }
  }
  return wanted;
}

}  // namespace

TEST_CASE("sets of bytes do what sets of bits do") {
  CHECK(rc::check([] {
    const Bytes a = any_range();
    const Bytes b = any_access();
    RC_ASSERT(bits_of(a & b) == (bits_of(a) & bits_of(b)));
    RC_ASSERT(bits_of(a | b) == (bits_of(a) | bits_of(b)));
    RC_ASSERT(bits_of(~a) == ~bits_of(a));
    RC_ASSERT(a.none() == bits_of(a).none());
    RC_ASSERT(a.within(b) == ((bits_of(a) & ~bits_of(b)).none()));
    RC_ASSERT((a == b) == (bits_of(a) == bits_of(b)));
    RC_ASSERT(b.none() || (b.has(b.first()) && (b & Bytes::upto(b.first())).none()));
  }));
  for (std::uint32_t count = 0; count <= kBlockBytes; ++count) {
    CHECK(bits_of(Bytes::upto(count)).count() == count);
  }
}

TEST_CASE("the lane of a coalesced cell follows from the byte") {
  for (const int shift : {0, 1, 2, 3, 4}) {
    for (const int base : {-3, 0, 5}) {
      Cell cell;
      cell.lane_base = static_cast<std::int8_t>(base);
      cell.lane_shift = static_cast<std::uint8_t>(shift) & 7U;
      for (std::uint32_t byte = 0; byte < kBlockBytes; ++byte) {
        const int lane = base + static_cast<int>(byte >> shift);
        if (lane >= 0 && lane < 32) {
          CHECK(cell.lanes_at(byte) == std::uint32_t{1} << lane);
        }
      }
    }
  }
}

TEST_CASE("cells map lanes alike only if every byte has one lane and the same in both") {
  Cell coalesced;
  coalesced.lane_shift = 2;
  Cell moved = coalesced;
  moved.lane_base = 1;
  Cell wider = coalesced;
  wider.lane_shift = 3;
  Cell single;
  single.lanes = 4;
  Cell several;
  several.lanes = 6;
  CHECK(coalesced.maps_lanes_like(coalesced));
  CHECK_FALSE(coalesced.maps_lanes_like(moved));
  CHECK_FALSE(coalesced.maps_lanes_like(wider));
  CHECK_FALSE(coalesced.maps_lanes_like(single));
  CHECK(single.maps_lanes_like(single));
  CHECK_FALSE(several.maps_lanes_like(several));
}

TEST_CASE("a block gives back at every byte what touched that byte, split or not") {
  CHECK(rc::check([] {
    Block block;
    Touched all;
    bool was_split = false;
    const auto accesses = *rc::gen::inRange<std::uint32_t>(0, 40);
    for (std::uint32_t id = 1; id <= accesses; ++id) {
      if (*rc::gen::inRange(0, 12) == 0) {
        const Bytes gone = any_range();
        block.clear(gone);
        for (std::uint32_t byte = 0; byte < kBlockBytes; ++byte) {
          if (gone.has(byte)) {
            all.erase(byte);
          }
        }
      }
      const Bytes bytes = any_access();
      RC_ASSERT(look_up(block, 0, bytes) == expected(all, 0, bytes));
      record(block, bytes, id);
      was_split = was_split || block.is_split();
      for (std::uint32_t byte = 0; byte < kBlockBytes; ++byte) {
        if (bytes.has(byte)) {
          all[byte].insert(id);
        }
      }
    }
    const Bytes whole = Bytes::upto(kBlockBytes);
    RC_ASSERT(look_up(block, 0, whole) == expected(all, 0, whole));
    block.clear();
    RC_ASSERT(look_up(block, 0, whole).empty());
    RC_CLASSIFY(was_split, "split");
  }));
}

TEST_CASE("what is forgotten is forgotten to the byte, and its neighbours are not") {
  CHECK(rc::check([] {
    ShadowMemory shadow;
    Touched all;
    constexpr std::uint64_t kBase = 0x7fff00000000;
    constexpr std::uint64_t kBytes = 3 * 4096;
    for (std::uint32_t id = 1; id < 30; ++id) {
      const std::uint64_t start =
          kBase + *rc::gen::inRange<std::uint64_t>(0, kBytes / kBlockBytes) * kBlockBytes;
      const Bytes bytes = any_access();
      record(ShadowMemory::Visitor(shadow).block(start), bytes, id);
      for (std::uint32_t byte = 0; byte < kBlockBytes; ++byte) {
        if (bytes.has(byte)) {
          all[start + byte].insert(id);
        }
      }
    }
    const auto from = *rc::gen::inRange<std::uint64_t>(0, kBytes);
    const auto count = *rc::gen::inRange<std::uint64_t>(0, kBytes) +
                       *rc::gen::element<std::uint64_t>(0, std::uint64_t{1} << 26);
    shadow.forget(kBase + from, count);
    std::erase_if(all, [&](const auto& each) {
      return each.first >= kBase + from && each.first < kBase + from + count;
    });
    for (std::uint64_t start = kBase; start < kBase + kBytes; start += kBlockBytes) {
      const Bytes whole = Bytes::upto(kBlockBytes);
      RC_ASSERT(look_up(ShadowMemory::Visitor(shadow).block(start), start, whole) ==
                expected(all, start, whole));
    }
  }));
}

TEST_CASE("shadow of shared memory is made block by block and stays where it is") {
  SharedShadow shadow;
  Block& last = shadow.block(SharedShadow::kLimit - 1);
  record(last, Bytes::range(127, 1), 5);
  Block& first = shadow.block(0);
  CHECK(&first == &shadow.block(127));
  CHECK(&first != &shadow.block(128));
  CHECK(&last == &shadow.block(SharedShadow::kLimit - kBlockBytes));
  CHECK(look_up(last, 0, Bytes::upto(kBlockBytes)) == Touched{{127, {5}}});
}

}  // namespace barracuda::detector

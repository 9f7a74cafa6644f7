#include "host_detector/shadow/word_lists.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace barracuda::detector {
namespace {

// Of Packed::place: 4 bits for bytes, 5 for the warp, 3 for the shift, 8 for the lane or base, one
// that says which of these, 11 for the next slot.
constexpr unsigned kWarpAt = 4, kShiftAt = 9, kLaneAt = 12, kSingleAt = 20, kNextAt = 21;
constexpr std::uint32_t kByteBits = 0xF, kWarpBits = 0x1F, kShiftBits = 0x7, kLaneBits = 0xFF,
                        kNextBits = 0x7FF;
static_assert(kByteBits + (kWarpBits << kWarpAt) + (kShiftBits << kShiftAt) +
                      (kLaneBits << kLaneAt) + (1U << kSingleAt) + (kNextBits << kNextAt) ==
                  ~std::uint32_t{0},
              "every bit of a place has one meaning");
static_assert(kByteBits == (1U << WordLists::kWordBytes) - 1, "a bit for each byte of a word");
static_assert(kWarpBits + 1 == wire::kWarpLanes, "a CTA has as many warps as a warp has lanes");
static_assert(kShiftBits >= kBlockShift, "lanes of a block's width at most");
static_assert(WordLists::kWords * WordLists::kMostPacked * 3 / 2 <= kNextBits,
              "each slot has a number: there are at most half as many more as are used");
static_assert(wire::kMaxSites == 1U << (32 - 8), "a site has 24 bits, its flags 8");

bool has_rest(const Cell& cell) {
  return cell.value != 0 || cell.extent() != 0 || cell.is_superseded() || cell.outdated_by != 0 ||
         cell.sequence != 0 || (cell.lanes & (cell.lanes - 1)) != 0;
}

std::uint32_t pack_place(const Cell& cell, std::uint32_t word) {
  DEBUG_ASSERT(cell.bytes.within(WordLists::bytes_of(word)) && cell.warp <= kWarpBits &&
               cell.lane_shift <= kShiftBits);
  const std::uint64_t half = word < WordLists::kWords / 2 ? cell.bytes.low : cell.bytes.high;
  const auto bytes = static_cast<std::uint32_t>(half >> (word * WordLists::kWordBytes % 64)) & 0xFU;
  const bool has_one_lane = is_single(cell.lanes);
  const bool has_map = cell.lanes == 0;
  const auto lane = has_one_lane ? static_cast<std::uint32_t>(std::countr_zero(cell.lanes))
                    : has_map    ? static_cast<std::uint8_t>(cell.lane_base)
                                 : 0U;
  const std::uint32_t shift = has_map ? cell.lane_shift : 0U;
  return bytes | std::uint32_t{cell.warp} << kWarpAt | shift << kShiftAt | lane << kLaneAt |
         std::uint32_t{has_one_lane} << kSingleAt;
}

void unpack_place(std::uint32_t place, std::uint32_t word, Cell& cell) {
  const std::uint64_t half = std::uint64_t{place & 0xFU} << (word * WordLists::kWordBytes % 64);
  cell.bytes = word < WordLists::kWords / 2 ? Bytes{half, 0} : Bytes{0, half};
  cell.warp = static_cast<std::uint8_t>(place >> kWarpAt & kWarpBits);
  cell.lane_shift = place >> kShiftAt & kShiftBits;
  const auto lane = static_cast<std::uint8_t>(place >> kLaneAt);
  if ((place >> kSingleAt & 1) != 0) {
    cell.lanes = std::uint32_t{1} << lane;
  } else {
    cell.lane_base = static_cast<std::int8_t>(lane);
  }
}

}  // namespace

std::uint32_t WordLists::next_of(const Packed& packed) {
  return (packed.place >> kNextAt) - 1U;
}

void WordLists::set_next(Packed& packed, std::uint32_t next) {
  DEBUG_ASSERT(next + 1U <= kNextBits);
  packed.place = (packed.place & ~(kNextBits << kNextAt)) | (next + 1U) << kNextAt;
}

AccessHistory& WordLists::scratch() {
  thread_local AccessHistory history;
  history.cells.clear();
  history.shared_sets.clear();
  return history;
}

bool WordLists::is_valid() const {
  std::vector<std::uint8_t> slots(capacity_);  // 1: seen
  std::vector<std::uint8_t> rests(rests_ == nullptr ? 0 : rests_->all.size());
  const auto sees = [](std::vector<std::uint8_t>& of, std::uint32_t index) {
    return index < of.size() && std::exchange(of[index], std::uint8_t{1}) == 0;
  };
  std::uint32_t used = 0;
  for (std::uint32_t word = 0; word < kWords; ++word) {
    if (busy(word) != nullptr && (heads_[word] != 0 || !busy(word)->is_valid())) {
      return false;
    }
    for (std::uint32_t slot = first_of(word); slot != kNone; slot = next_of(slots_[slot])) {
      const bool has_rest = (slots_[slot].site_and_flags & Packed::kHasRest) != 0;
      if (!sees(slots, slot) || (has_rest && !sees(rests, slots_[slot].stack_or_rest)) ||
          !unpack(slots_[slot], word).is_valid()) {
        return false;
      }
      ++used;
    }
  }
  for (std::uint32_t slot = free_ - 1U; slot != kNone; slot = next_of(slots_[slot])) {
    if (!sees(slots, slot)) {
      return false;
    }
  }
  const bool are_rests_free =
      rests_ == nullptr ||
      std::ranges::all_of(rests_->free, [&](auto rest) { return sees(rests, rest); });
  return used == used_ && are_rests_free && std::ranges::find(slots, 0) == slots.end() &&
         std::ranges::find(rests, 0) == rests.end();
}

void WordLists::add(std::uint32_t word, const Cell& cell) {
  if (is_empty(word)) {
    append(word, kNone, cell);
  } else {
    visit(word, [&](AccessHistory& history) { history.cells.push_back(cell); });
  }
  DEBUG_ASSERT(is_valid());
}

bool WordLists::join(std::uint32_t word, const Cell& cell, PassesBy passes_by) {
  if (passes_by == PassesBy::kNobody || busy(word) != nullptr) {
    return false;
  }
  Passed passed;
  std::uint32_t own = kNone;
  for (std::uint32_t slot = first_of(word); slot != kNone; slot = next_of(slots_[slot])) {
    if (!is_passed(slots_[slot], cell, passes_by)) {
      if (own != kNone || slots_[slot].time != cell.time) {
        return false;
      }
      own = slot;
    }
    ++passed.count;
    passed.last = slot;
  }
  if (own != kNone) {
    return merge(own, word, cell);
  }
  if (passed.count == kMostPacked) {
    return false;
  }
  append(word, passed.last, cell);
  DEBUG_ASSERT(is_valid());
  return true;
}

bool WordLists::merge(std::uint32_t slot, std::uint32_t word, const Cell& cell) {
  Packed& packed = slots_[slot];
  Cell both = unpack(packed, word);
  const std::uint32_t lanes = both.lanes;
  const Bytes bytes = both.bytes;
  if (!both.merge(cell)) {
    return false;
  }
  if (both.lanes != lanes || !(both.bytes == bytes)) {
    const std::uint32_t next = next_of(packed);
    free_rest(packed);
    fill(slot, word, both);
    set_next(packed, next);
  }
  return true;
}

Cell WordLists::unpack(const Packed& of, std::uint32_t word) const {
  Cell cell;
  unpack_place(of.place, word, cell);
  cell.cta = CtaKey(LaunchId{of.launch}, of.cta);
  cell.time = of.time;
  cell.site = of.site_and_flags >> 8;
  cell.flags = static_cast<std::uint8_t>(of.site_and_flags) & ~Packed::kHasRest;
  cell.stack = of.stack_or_rest;
  if ((of.site_and_flags & Packed::kHasRest) != 0) {
    const Rest& rest = rests_->all[of.stack_or_rest];
    cell.value = rest.value;
    cell.superseded_by = rest.superseded_by;
    cell.outdated_by = rest.outdated_by & 31U;
    cell.sequence = rest.sequence;
    cell.lanes = rest.lanes;
    cell.stack = rest.stack;
    if (cell.is_asynchronous() && cell.lanes != 0) {
      cell.set_extent(rest.extent);
    }
  }
  return cell;
}

bool WordLists::is_passed(const Packed& older, const Cell& cell, PassesBy passes_by) const {
  const std::uint32_t site_and_flags = older.site_and_flags & ~std::uint32_t{Packed::kHasRest};
  if (passes_by == PassesBy::kNobody || site_and_flags != (cell.site << 8 | cell.flags) ||
      older.launch != static_cast<std::uint32_t>(cell.launch())) {
    return false;
  }
  const bool is_superseded = site_and_flags != older.site_and_flags &&
                             rests_->all[older.stack_or_rest].superseded_by != CtaKey{};
  const bool is_other_warp =
      passes_by == PassesBy::kOtherWarps && (older.place >> kWarpAt & kWarpBits) != cell.warp;
  return !is_superseded && (is_other_warp || older.cta != cell.cta_index());
}

WordLists::Passed WordLists::take_out(std::uint32_t word, const Cell& cell, PassesBy passes_by,
                                      Cells& seen) {
  Passed passed;
  for (std::uint32_t slot = first_of(word), next = kNone; slot != kNone; slot = next) {
    next = next_of(slots_[slot]);
    if (is_passed(slots_[slot], cell, passes_by)) {
      ++passed.count;
      passed.last = slot;
      continue;
    }
    seen.push_back(unpack(slots_[slot], word));
    if (passed.last == kNone) {
      heads_[word] = static_cast<std::uint16_t>(next + 1U);
    } else {
      set_next(slots_[passed.last], next);
    }
    free_slot(slot);
  }
  return passed;
}

void WordLists::keep(std::uint32_t word, Passed passed, AccessHistory& history) {
  if (history.shared_sets.empty() && passed.count + history.cells.size() <= kMostPacked) {
    for (const Cell& cell : history.cells) {
      append(word, passed.last, cell);
      passed.last = passed.last == kNone ? first_of(word) : next_of(slots_[passed.last]);
    }
    return;
  }
  take_out(word, Cell{}, PassesBy::kNobody, history.cells);
  make_busy(word, history);
}

// Behind the slot `after`, the last of the word, if it has one.
void WordLists::append(std::uint32_t word, std::uint32_t after, const Cell& cell) {
  const std::uint32_t slot = take_slot();
  fill(slot, word, cell);
  if (after == kNone) {
    heads_[word] = static_cast<std::uint16_t>(slot + 1U);
  } else {
    set_next(slots_[after], slot);
  }
}

// It is the last of its list then.
void WordLists::fill(std::uint32_t slot, std::uint32_t word, const Cell& cell) {
  const bool needs_rest = has_rest(cell);
  const std::uint8_t flags = needs_rest ? cell.flags | Packed::kHasRest : std::uint32_t{cell.flags};
  slots_[slot] = {.launch = static_cast<std::uint32_t>(cell.launch()),
                  .cta = cell.cta_index(),
                  .time = cell.time,
                  .site_and_flags = cell.site << 8 | flags,
                  .stack_or_rest = needs_rest ? keep_rest(cell) : cell.stack,
                  .place = pack_place(cell, word)};
}

void WordLists::make_busy(std::uint32_t word, AccessHistory& history) {
  if (busy_ == nullptr) {
    busy_ = std::make_unique<std::array<std::unique_ptr<AccessHistory>, kWords>>();
  }
  (*busy_)[word] = std::make_unique<AccessHistory>(std::move(history));
  (*busy_)[word]->cells.shrink_to_fit();
  if (used_ == 0) {
    slots_.reset();
    rests_.reset();
    capacity_ = 0;
    free_ = 0;
  }
}

// Not as soon as it could be packed: a word may go to and fro.
void WordLists::settle_if_quiet(std::uint32_t word) {
  std::unique_ptr<AccessHistory>& history = (*busy_)[word];
  if (!history->shared_sets.empty() || history->cells.size() > kMostPacked / 2) {
    return;
  }
  const std::unique_ptr<AccessHistory> quiet = std::move(history);
  if (std::ranges::all_of(*busy_, [](const auto& other) { return other == nullptr; })) {
    busy_.reset();
  }
  keep(word, Passed{}, *quiet);
}

std::uint32_t WordLists::take_slot() {
  if (free_ == 0) {
    const std::uint32_t capacity =
        capacity_ + std::max(4U, std::bit_floor(std::uint32_t{capacity_}) / 2);
    ASSERT(capacity <= kNextBits);
    auto more = std::make_unique_for_overwrite<Packed[]>(capacity);
    std::copy_n(slots_.get(), capacity_, more.get());
    for (std::uint32_t slot = capacity_; slot < capacity; ++slot) {
      more[slot].place = (slot + 1 < capacity ? slot + 2U : 0U) << kNextAt;
    }
    slots_ = std::move(more);
    free_ = static_cast<std::uint16_t>(capacity_ + 1U);
    capacity_ = static_cast<std::uint16_t>(capacity);
  }
  const std::uint32_t slot = free_ - 1U;
  free_ = static_cast<std::uint16_t>(next_of(slots_[slot]) + 1U);
  ++used_;
  return slot;
}

void WordLists::free_rest(const Packed& packed) {
  DEBUG_ASSERT((packed.site_and_flags & Packed::kHasRest) == 0 ||
               (rests_ != nullptr && packed.stack_or_rest < rests_->all.size()));
  if ((packed.site_and_flags & Packed::kHasRest) != 0) {
    rests_->free.push_back(packed.stack_or_rest);
  }
}

void WordLists::free_slot(std::uint32_t slot) {
  DEBUG_ASSERT(slot < capacity_ && used_ != 0);
  free_rest(slots_[slot]);
  set_next(slots_[slot], free_ - 1U);
  free_ = static_cast<std::uint16_t>(slot + 1U);
  --used_;
}

std::uint32_t WordLists::keep_rest(const Cell& cell) {
  if (rests_ == nullptr) {
    rests_ = std::make_unique<Rests>();
  }
  if (rests_->free.empty()) {
    rests_->free.push_back(static_cast<std::uint32_t>(rests_->all.size()));
    rests_->all.emplace_back();
  }
  const std::uint32_t index = rests_->free.back();
  rests_->free.pop_back();
  rests_->all[index] = {.value = cell.value,
                        .superseded_by = cell.superseded_by,
                        .sequence = cell.sequence,
                        .lanes = cell.lanes,
                        .stack = cell.stack,
                        .extent = cell.extent(),
                        .outdated_by = cell.outdated_by};
  return index;
}

}  // namespace barracuda::detector

#include "host_detector/shadow/word_lists.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace barracuda::detector {
namespace {

static_assert(PlaceBits::kBytes == (1U << WordLists::kWordBytes) - 1,
              "a bit for each byte of a word");
static_assert(PlaceBits::kWarp + 1 == wire::kWarpLanes,
              "a CTA has as many warps as a warp has lanes");
static_assert(PlaceBits::kShift >= kBlockShift, "lanes of a block's width at most");
static_assert(WordLists::kWords * WordLists::kMostPacked * 3 / 2 <= PlaceBits::kNext,
              "each slot has a number: there are at most half as many more as are used");
static_assert(wire::kMaxSites == 1U << (32 - 8), "a site has 24 bits, its flags 8");

bool has_rest(const Cell& cell) {
  return cell.value != 0 || cell.extent() != 0 || cell.is_superseded() || cell.outdated_by != 0 ||
         cell.sequence != 0 || ((cell.lanes & (cell.lanes - 1)) != 0 && cell.stack != 0);
}

// Its bytes.
std::uint32_t bytes_in(const Cell& cell, std::uint32_t word) {
  const std::uint64_t half = word < WordLists::kWords / 2 ? cell.bytes.low : cell.bytes.high;
  return static_cast<std::uint32_t>(half >> (word * WordLists::kWordBytes % 64)) &
         PlaceBits::kBytes;
}

std::uint32_t pack_place(const Cell& cell, std::uint32_t word) {
  DEBUG_ASSERT(cell.bytes.within(WordLists::bytes_of(word)) && cell.warp <= PlaceBits::kWarp &&
               cell.lane_shift <= PlaceBits::kShift);
  const std::uint32_t place = bytes_in(cell, word) | std::uint32_t{cell.warp} << PlaceBits::kWarpAt;
  if (cell.lanes != 0) {
    return is_single(cell.lanes) || !has_rest(cell) ? place | PackedCell::place_of(cell.lanes)
                                                    : place;
  }
  return place | std::uint32_t{cell.lane_shift} << PlaceBits::kShiftAt |
         std::uint32_t{static_cast<std::uint8_t>(cell.lane_base)} << PlaceBits::kLaneAt;
}

void unpack_place(std::uint32_t place, std::uint32_t word, Cell& cell) {
  const std::uint64_t half = std::uint64_t{place & 0xFU} << (word * WordLists::kWordBytes % 64);
  cell.bytes = word < WordLists::kWords / 2 ? Bytes{.low = half} : Bytes{.high = half};
  cell.warp = static_cast<std::uint8_t>(place >> PlaceBits::kWarpAt & PlaceBits::kWarp);
  const auto lane = static_cast<std::uint8_t>(place >> PlaceBits::kLaneAt);
  if ((place >> PlaceBits::kSingleAt & 1) != 0) {
    cell.lanes = std::uint32_t{1} << lane;
  } else {
    cell.lane_shift = place >> PlaceBits::kShiftAt & PlaceBits::kShift;
    cell.lane_base = static_cast<std::int8_t>(lane);
  }
}

}  // namespace

AccessHistory& WordLists::scratch() {
  static thread_local AccessHistory history;
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
    // A busy history may be of all warps of a grid: it is looked at where it changes.
    if (busy(word) != nullptr && heads_[word] != 0) {
      return false;
    }
    for (std::uint32_t slot = first_of(word); slot != kNone; slot = slots_[slot].next()) {
      const bool has_rest = slots_[slot].has_rest();
      if (!sees(slots, slot) || (has_rest && !sees(rests, slots_[slot].stack_lanes_or_rest)) ||
          !unpack(slots_[slot], word).is_valid()) {
        return false;
      }
      ++used;
    }
  }
  for (std::uint32_t slot = free_ - 1U; slot != kNone; slot = slots_[slot].next()) {
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
  const PackedCell newer = PackedCell::alike(cell);
  std::uint32_t own = kNone;
  for (std::uint32_t slot = first_of(word); slot != kNone; slot = slots_[slot].next()) {
    if (!is_passed(slots_[slot], newer, passes_by)) {
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
  PackedCell& packed = slots_[slot];
  Cell both = unpack(packed, word);
  const std::uint32_t lanes = both.lanes;
  const Bytes bytes = both.bytes;
  if (!both.merge(cell)) {
    return false;
  }
  if (both.lanes != lanes || !(both.bytes == bytes)) {
    const std::uint32_t next = packed.next();
    free_rest(packed);
    packed = pack(both, word);
    packed.set_next(next);
  }
  return true;
}

Cell WordLists::unpack(const PackedCell& of, std::uint32_t word) const {
  Cell cell;
  unpack_place(of.place, word, cell);
  cell.cta = CtaKey(LaunchId{of.launch}, of.cta);
  cell.time = of.time;
  cell.site = of.site_and_flags >> 8;
  cell.flags = static_cast<std::uint8_t>(of.site_and_flags) & ~PackedCell::kHasRest;
  cell.stack = of.stack_lanes_or_rest;
  if (of.has_rest()) {
    const Rest& rest = rests_->all[of.stack_lanes_or_rest];
    cell.value = rest.value;
    cell.superseded_by = rest.superseded_by;
    cell.outdated_by = rest.outdated_by & 31U;
    cell.sequence = rest.sequence;
    cell.lanes = rest.lanes;
    cell.stack = rest.stack;
    if (cell.is_asynchronous() && cell.lanes != 0) {
      cell.set_extent(rest.extent);
    }
  } else if (of.has_several_lanes()) {
    cell.lanes = of.stack_lanes_or_rest;
    cell.stack = 0;
  }
  return cell;
}

std::optional<WordLists::Alike> WordLists::Alike::of(const Cell& cell, PassesBy passes_by) {
  if (has_rest(cell)) {
    return std::nullopt;
  }
  Alike alike;
  alike.packed_ = PackedCell::alike(cell);
  alike.passes_by_ = passes_by;
  return alike;
}

bool WordLists::is_passed(const PackedCell& older, const PackedCell& newer,
                          PassesBy passes_by) const {
  const std::uint32_t site_and_flags = older.site_and_flags & ~std::uint32_t{PackedCell::kHasRest};
  if (passes_by == PassesBy::kNobody || site_and_flags != newer.site_and_flags ||
      older.launch != newer.launch) {
    return false;
  }
  const bool is_superseded = site_and_flags != older.site_and_flags &&
                             rests_->all[older.stack_lanes_or_rest].superseded_by != CtaKey{};
  const bool is_other_warp =
      passes_by == PassesBy::kOtherWarps &&
      ((older.place ^ newer.place) >> PlaceBits::kWarpAt & PlaceBits::kWarp) != 0;
  return !is_superseded && (is_other_warp || older.cta != newer.cta);
}

std::uint32_t WordLists::drop(std::uint32_t word, std::uint32_t places) {
  std::uint32_t last = kNone;
  for (std::uint32_t slot = first_of(word), next = kNone; slot != kNone; slot = next) {
    next = slots_[slot].next();
    if ((places & 1) == 0) {
      last = slot;
    } else {
      take_off(word, last, slot);
    }
    places >>= 1;
  }
  return last;
}

// `before` is in front of it in its list, if anybody is.
void WordLists::take_off(std::uint32_t word, std::uint32_t before, std::uint32_t slot) {
  const std::uint32_t next = slots_[slot].next();
  if (before == kNone) {
    heads_[word] = static_cast<std::uint16_t>(next + 1U);
  } else {
    slots_[before].set_next(next);
  }
  free_slot(slot);
}

WordLists::Passed WordLists::take_out(std::uint32_t word, const Cell& cell, PassesBy passes_by,
                                      Cells& seen) {
  Passed passed;
  const PackedCell newer = PackedCell::alike(cell);
  for (std::uint32_t slot = first_of(word), next = kNone; slot != kNone; slot = next) {
    next = slots_[slot].next();
    if (is_passed(slots_[slot], newer, passes_by)) {
      ++passed.count;
      passed.last = slot;
      continue;
    }
    seen.push_back(unpack(slots_[slot], word));
    take_off(word, passed.last, slot);
  }
  return passed;
}

void WordLists::keep(std::uint32_t word, Passed passed, AccessHistory& history) {
  if (history.shared_sets.empty() && passed.count + history.cells.size() <= kMostPacked) {
    for (const Cell& cell : history.cells) {
      append(word, passed.last, cell);
      passed.last = passed.last == kNone ? first_of(word) : slots_[passed.last].next();
    }
    return;
  }
  take_out(word, Cell{}, PassesBy::kNobody, history.cells);
  make_busy(word, history);
}

void WordLists::append(std::uint32_t word, std::uint32_t after, const Cell& cell) {
  append(word, after, pack(cell, word));
}

// The last of a list.
PackedCell WordLists::pack(const Cell& cell, std::uint32_t word) {
  PackedCell packed = PackedCell::alike(cell);
  packed.place = pack_place(cell, word);
  if (has_rest(cell)) {
    packed.site_and_flags |= PackedCell::kHasRest;
    packed.stack_lanes_or_rest = keep_rest(cell);
  } else if (packed.has_several_lanes()) {
    packed.stack_lanes_or_rest = cell.lanes;
  }
  return packed;
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
void WordLists::repack_if_quiet(std::uint32_t word) {
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

// Few at first, for most blocks of which words are touched one by one have few; by a half later.
void WordLists::make_slots() {
  constexpr std::uint32_t kFew = 4, kMany = 16;
  const std::uint32_t capacity =
      capacity_ + (capacity_ < kMany ? std::max<std::uint32_t>(kFew, capacity_)
                                     : std::bit_floor(std::uint32_t{capacity_}) / 2);
  ASSERT(capacity <= PlaceBits::kNext);
  auto more = std::make_unique_for_overwrite<PackedCell[]>(capacity);
  std::copy_n(slots_.get(), capacity_, more.get());
  for (std::uint32_t slot = capacity_; slot < capacity; ++slot) {
    more[slot].place = (slot + 1 < capacity ? slot + 2U : 0U) << PlaceBits::kNextAt;
  }
  slots_ = std::move(more);
  free_ = static_cast<std::uint16_t>(capacity_ + 1U);
  capacity_ = static_cast<std::uint16_t>(capacity);
}

void WordLists::free_rest(const PackedCell& packed) {
  DEBUG_ASSERT(!packed.has_rest() ||
               (rests_ != nullptr && packed.stack_lanes_or_rest < rests_->all.size()));
  if (packed.has_rest()) {
    rests_->free.push_back(packed.stack_lanes_or_rest);
  }
}

void WordLists::free_slot(std::uint32_t slot) {
  DEBUG_ASSERT(slot < capacity_ && used_ != 0);
  free_rest(slots_[slot]);
  slots_[slot].set_next(free_ - 1U);
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

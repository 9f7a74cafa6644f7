#include "host_detector/shadow/word_lists.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace barracuda::detector {
namespace {

// Of Packed::place.
constexpr unsigned kWarpAt = 4, kShiftAt = 12, kLaneAt = 16, kSingleAt = 24;

}  // namespace

void WordLists::add(std::uint32_t word, const Entry& entry) {
  if (!is_empty(word)) {
    visit(word, entry, PassesBy::kNobody,
          [&](History& history) { history.entries.push_back(entry); });
    return;
  }
  resize(word, has_rest(entry) ? 2 : 1);
  put(packed_.get() + start_of(word), entry, word);
}

bool WordLists::has_rest(const Entry& entry) {
  return entry.value != 0 || entry.is_superseded() || entry.sequence != 0 ||
         (entry.lanes & (entry.lanes - 1)) != 0;
}

WordLists::Packed WordLists::pack(const Entry& entry, std::uint32_t word) {
  const std::uint64_t half = word < kWords / 2 ? entry.bytes.low : entry.bytes.high;
  const auto bytes = static_cast<std::uint32_t>(half >> (word * kWordBytes % 64)) & 0xFU;
  const bool has_one_lane = is_single(entry.lanes);
  const auto lane = has_one_lane ? static_cast<std::uint32_t>(std::countr_zero(entry.lanes))
                                 : static_cast<std::uint8_t>(entry.lane_base);
  const std::uint8_t flags =
      has_rest(entry) ? entry.flags | Packed::kHasRest : std::uint32_t{entry.flags};
  return {.launch = static_cast<std::uint32_t>(entry.launch()),
          .cta = entry.cta_index(),
          .tick = entry.tick,
          .site_and_flags = entry.site << 8 | flags,
          .stack = entry.stack,
          .place = bytes | std::uint32_t{entry.warp} << kWarpAt |
                   std::uint32_t{entry.lane_shift} << kShiftAt | lane << kLaneAt |
                   std::uint32_t{has_one_lane} << kSingleAt};
}

WordLists::Packed* WordLists::put(Packed* at, const Entry& entry, std::uint32_t word) {
  *at++ = pack(entry, word);
  if (has_rest(entry)) {
    *at++ = std::bit_cast<Packed>(Rest{.value = entry.value,
                                       .superseded_by = entry.superseded_by,
                                       .sequence = entry.sequence,
                                       .lanes = entry.lanes});
  }
  return at;
}

Entry WordLists::unpack(const Packed*& packed, std::uint32_t word) {
  const Packed& of = *packed++;
  const std::uint64_t half = std::uint64_t{of.place & 0xFU} << (word * kWordBytes % 64);
  Entry entry;
  entry.bytes = word < kWords / 2 ? Bytes{half, 0} : Bytes{0, half};
  entry.cta = cta_key(LaunchId{of.launch}, of.cta);
  entry.tick = of.tick;
  entry.site = of.site_and_flags >> 8;
  entry.flags = static_cast<std::uint8_t>(of.site_and_flags) & ~Packed::kHasRest;
  entry.stack = of.stack;
  entry.warp = static_cast<std::uint8_t>(of.place >> kWarpAt);
  entry.lane_shift = static_cast<std::uint8_t>(of.place >> kShiftAt & 0xFU);
  const auto lane = static_cast<std::uint8_t>(of.place >> kLaneAt);
  if ((of.place >> kSingleAt & 1) != 0) {
    entry.lanes = std::uint32_t{1} << lane;
  } else {
    entry.lane_base = static_cast<std::int8_t>(lane);
  }
  if ((of.site_and_flags & Packed::kHasRest) != 0) {
    const auto rest = std::bit_cast<Rest>(*packed++);
    entry.value = rest.value;
    entry.superseded_by = rest.superseded_by;
    entry.sequence = rest.sequence;
    entry.lanes = rest.lanes;
  }
  return entry;
}

History& WordLists::scratch() {
  thread_local History history;
  history.entries.clear();
  history.crowds.clear();
  return history;
}

bool WordLists::does_pass_by(const Packed& older, const Entry& entry, PassesBy passes_by) {
  const std::uint32_t site_and_flags = older.site_and_flags & ~std::uint32_t{Packed::kHasRest};
  if (passes_by == PassesBy::kNobody || site_and_flags != (entry.site << 8 | entry.flags) ||
      older.launch != static_cast<std::uint32_t>(entry.launch())) {
    return false;
  }
  const bool is_superseded = site_and_flags != older.site_and_flags &&
                             std::bit_cast<Rest>(*std::next(&older)).superseded_by != CtaKey{};
  const bool is_other_warp = passes_by == PassesBy::kOtherWarps &&
                             static_cast<std::uint8_t>(older.place >> kWarpAt) != entry.warp;
  return !is_superseded && (is_other_warp || older.cta != entry.cta_index());
}

WordLists::Passed WordLists::part(std::uint32_t word, const Entry& entry, PassesBy passes_by,
                                  Entries& seen) {
  Packed* const start = packed_.get() + start_of(word);
  Passed passed;
  const Packed* at = start;
  for (const Packed* end = at + counts_[word]; at != end;) {
    if (!does_pass_by(*at, entry, passes_by)) {
      seen.push_back(unpack(at, word));
      continue;
    }
    const bool has_rest = (at->site_and_flags & Packed::kHasRest) != 0;
    for (int pieces = has_rest ? 2 : 1; pieces > 0; --pieces) {
      start[passed.size++] = *at++;
    }
    ++passed.entries;
  }
  return passed;
}

void WordLists::keep(std::uint32_t word, const Passed& passed, History& history) {
  if (history.crowds.empty() && passed.entries + history.entries.size() <= kMostPacked) {
    keep_packed(word, passed, history.entries);
    return;
  }
  const Packed* at = packed_.get() + start_of(word);
  for (const Packed* end = at + passed.size; at != end;) {
    history.entries.push_back(unpack(at, word));
  }
  make_busy(word, history);
}

void WordLists::keep_packed(std::uint32_t word, const Passed& passed, const Entries& entries) {
  std::size_t size = passed.size + entries.size();
  for (const Entry& entry : entries) {
    size += has_rest(entry) ? 1 : 0;
  }
  resize(word, size);
  Packed* at = packed_.get() + start_of(word) + passed.size;
  for (const Entry& entry : entries) {
    at = put(at, entry, word);
  }
}

void WordLists::make_busy(std::uint32_t word, History& history) {
  resize(word, 0);
  if (busy_ == nullptr) {
    busy_ = std::make_unique<std::array<std::unique_ptr<History>, kWords>>();
  }
  (*busy_)[word] = std::make_unique<History>(std::move(history));
}

// Not as soon as it could be packed: a word may go to and fro.
void WordLists::settle_if_quiet(std::uint32_t word) {
  std::unique_ptr<History>& history = (*busy_)[word];
  if (!history->crowds.empty() || history->entries.size() > kMostPacked / 2) {
    return;
  }
  keep_packed(word, Passed{}, history->entries);
  history.reset();
  if (std::ranges::all_of(*busy_, [](const auto& other) { return other == nullptr; })) {
    busy_.reset();
  }
}

std::size_t WordLists::start_of(std::uint32_t word) const {
  constexpr std::uint32_t kEight = 8;
  constexpr std::uint64_t kOnes = 0x0101010101010101;  // adds up the bytes of what it multiplies
  static_assert(2 * kMostPacked * kEight < 256);
  const auto eight_from = [&](std::uint32_t first) {
    std::uint64_t counts = 0;
    std::memcpy(&counts, counts_.data() + first, kEight);
    return counts;
  };
  std::uint64_t start = 0;
  std::uint32_t first = 0;
  for (; first + kEight <= word; first += kEight) {
    start += eight_from(first) * kOnes >> 56;
  }
  if (first < word) {
    start += (eight_from(first) << (8 * (kEight - (word - first)))) * kOnes >> 56;
  }
  return start;
}

void WordLists::resize(std::uint32_t word, std::size_t count) {
  if (count == counts_[word]) {
    return;
  }
  const std::size_t start = start_of(word), end = start + counts_[word], new_end = start + count;
  const std::size_t new_size = size_ - end + new_end;
  if (new_size > capacity_) {
    const std::size_t capacity = std::bit_ceil(new_size);
    auto larger = std::make_unique_for_overwrite<Packed[]>(capacity);
    std::copy_n(packed_.get(), end, larger.get());
    std::copy_n(packed_.get() + end, size_ - end, larger.get() + new_end);
    packed_ = std::move(larger);
    capacity_ = static_cast<std::uint16_t>(capacity);
  } else if (end != size_) {
    std::memmove(packed_.get() + new_end, packed_.get() + end, (size_ - end) * sizeof(Packed));
  }
  counts_[word] = static_cast<std::uint8_t>(count);
  size_ = static_cast<std::uint16_t>(new_size);
}

}  // namespace barracuda::detector

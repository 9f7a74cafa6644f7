// The accesses to a block whose words have a list each. The few of a quiet word are packed, to 24
// bytes each where they are 64 elsewhere; a word with many, or with a shared set, has a history of
// its own.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "host_detector/shadow/access_history.h"
#include "host_detector/shadow/packed_cell.h"

namespace barracuda::detector {

// Which earlier accesses with the same launch, site and kind a new access may skip: it neither
// conflicts with them nor replaces them.
enum class PassesBy : std::uint8_t { kNobody, kOtherCtas, kOtherWarps };

// What becomes of an earlier access of a word that a new one does not pass by.
enum class Meeting : std::uint8_t { kStays, kGoes, kIsToBeVisited };

class WordLists {
 public:
  static constexpr std::uint32_t kWords = 32;
  static constexpr std::uint32_t kWordBytes = kBlockBytes / kWords;
  static constexpr std::size_t kMostPacked = 20;  // of a word

  [[nodiscard]] static constexpr Bytes bytes_of(std::uint32_t word) {
    return Bytes::range(word * kWordBytes, kWordBytes);
  }

  // Calls visit(word, part) for the words that it touches, with what it does there.
  template <typename Visit>
  static void for_each_part(const Cell& cell, Visit visit);

  // Of a cell that touches this word only.
  void add(std::uint32_t word, const Cell& cell);

  // Adds it if the list has no cell that it must be compared with: apart from those that it passes
  // by, at most one cell of its own moment, which it joins. Otherwise false, and nothing is added.
  [[nodiscard]] bool join(std::uint32_t word, const Cell& cell, PassesBy passes_by);

  // What lanes of an access that lie in one word each have alike, packed once for all.
  class Alike {
   public:
    // Nothing of an access that takes more than a slot.
    static std::optional<Alike> of(const Cell& cell, PassesBy passes_by);

   private:
    friend class WordLists;
    PackedCell packed_{};
    PassesBy passes_by_ = PassesBy::kNobody;
  };

  // Such lanes, and the bytes of a word that each of them touches.
  class LanesOfWord {
   public:
    // `offset` in the block; `bytes` are not more than the word has from there on.
    LanesOfWord(std::uint32_t lanes, std::uint32_t offset, std::uint32_t bytes)
        : word_(offset / kWordBytes),
          lanes_(lanes),
          place_(((1U << bytes) - 1) << offset % kWordBytes | PackedCell::place_of(lanes)) {
      DEBUG_ASSERT(lanes != 0 && bytes != 0 && offset % kWordBytes + bytes <= kWordBytes);
    }

    [[nodiscard]] std::uint32_t word() const { return word_; }

   private:
    friend class WordLists;
    std::uint32_t word_, lanes_, place_;
  };

  // Adds what `lanes` did, where there is no cell to compare with, or meet(older) knows what
  // becomes of them. False, and nothing is added, if the word must be visited.
  template <typename Meet>
  [[nodiscard]] bool record(const LanesOfWord& lanes, const Alike& alike, Meet meet);

  // Calls visit(history) and keeps what that leaves in it. Visits do not nest.
  template <typename Visit>
  void visit(std::uint32_t word, Visit visit) {
    visit_for(word, Cell{}, PassesBy::kNobody, visit);
  }

  // The same for an access; some of those that `cell` passes by may be missing there.
  template <typename Visit>
  void visit_for(std::uint32_t word, const Cell& cell, PassesBy passes_by, Visit visit);

  [[nodiscard]] bool is_empty() const { return used_ == 0 && busy_ == nullptr; }

  [[nodiscard]] bool is_empty(std::uint32_t word) const {
    return heads_[word] == 0 && busy(word) == nullptr;
  }

  // Calls visit(cell) for all of them.
  template <typename Visit>
  void look_at(Visit visit) const;

  // Every slot is in one list, of a word or of the free ones, and every rest belongs to one slot.
  [[nodiscard]] bool is_valid() const;

 private:
  static constexpr std::uint32_t kNone = PackedCell::kNone;

  // What few cells have, and the call stack.
  struct Rest {
    std::uint64_t value = 0;
    CtaKey superseded_by{};
    std::uint32_t sequence = 0, lanes = 0, stack = 0, extent = 0;
    std::uint8_t outdated_by = 0;
  };

  struct Rests {
    std::vector<Rest> all;
    std::vector<std::uint32_t> free;  // of these
  };

  // The part of a word's list that a visit does not see.
  struct Passed {
    std::size_t count = 0;
    std::uint32_t last = kNone;
  };

  // This thread's, empty.
  static AccessHistory& scratch();

  // Numbered from 1 on, so that heads_ begin as 0.
  [[nodiscard]] std::uint32_t first_of(std::uint32_t word) const { return heads_[word] - 1U; }

  [[nodiscard]] AccessHistory* busy(std::uint32_t word) const {
    return busy_ == nullptr ? nullptr : (*busy_)[word].get();
  }

  [[nodiscard]] Cell unpack(const PackedCell& of, std::uint32_t word) const;
  [[nodiscard]] bool is_passed(const PackedCell& older, const PackedCell& newer,
                               PassesBy passes_by) const;
  // Moves those that `cell` does not pass by into `seen`.
  Passed take_out(std::uint32_t word, const Cell& cell, PassesBy passes_by, Cells& seen);
  void keep(std::uint32_t word, Passed passed, AccessHistory& history);

  // The list of a word as a new cell finds it.
  struct Met {
    std::uint32_t goes = 0;      // a bit for each place in the list
    std::uint32_t own = kNone;   // the slot that it becomes one with
    std::uint32_t last = kNone;  // slot
  };

  template <typename Meet>
  [[nodiscard]] std::optional<Met> meet_all(std::uint32_t word, const PackedCell& newer,
                                            PassesBy passes_by, Meet meet) const;
  // The last slot that is left.
  std::uint32_t drop(std::uint32_t word, std::uint32_t places);
  void append(std::uint32_t word, std::uint32_t after, const PackedCell& packed);
  void append(std::uint32_t word, std::uint32_t after, const Cell& cell);
  // False if the cell in the slot cannot be one with it.
  bool merge(std::uint32_t slot, std::uint32_t word, const Cell& cell);
  [[nodiscard]] PackedCell pack(const Cell& cell, std::uint32_t word);
  void take_off(std::uint32_t word, std::uint32_t before, std::uint32_t slot);
  void free_rest(const PackedCell& packed);
  void make_busy(std::uint32_t word, AccessHistory& history);
  void repack_if_quiet(std::uint32_t word);
  std::uint32_t take_slot();
  void make_slots();
  void free_slot(std::uint32_t slot);
  std::uint32_t keep_rest(const Cell& cell);

  std::unique_ptr<PackedCell[]> slots_;
  std::unique_ptr<Rests> rests_;  // null while there is none
  std::unique_ptr<std::array<std::unique_ptr<AccessHistory>, kWords>> busy_;  // null while none is
  std::array<std::uint16_t, kWords> heads_{};                                 // first slots
  std::uint16_t capacity_ = 0, used_ = 0, free_ = 0;                          // of slots_
};

template <typename Visit>
void WordLists::for_each_part(const Cell& cell, Visit visit) {
  if (const std::uint32_t word = cell.bytes.first() / kWordBytes;
      cell.bytes.within(bytes_of(word))) {
    visit(word, cell);
    return;
  }
  Cell part = cell;
  const bool has_lane_a_word = cell.lanes == 0 && (1U << cell.lane_shift) >= kWordBytes;
  if (has_lane_a_word) {
    part.lane_base = 0;
    part.lane_shift = 0;
  }
  for (Bytes rest = cell.bytes; !rest.none(); rest = rest & ~part.bytes) {
    const std::uint32_t word = rest.first() / kWordBytes;
    part.bytes = rest & bytes_of(word);
    if (has_lane_a_word) {
      part.lanes = cell.lanes_at(word * kWordBytes);
    }
    visit(word, part);
  }
}

template <typename Visit>
void WordLists::visit_for(std::uint32_t word, const Cell& cell, PassesBy passes_by, Visit visit) {
  if (AccessHistory* history = busy(word)) {
    visit(*history);
    repack_if_quiet(word);
    DEBUG_ASSERT(is_valid());
    return;
  }
  AccessHistory& history = scratch();
  const Passed passed = take_out(word, cell, passes_by, history.cells);
  visit(history);
  keep(word, passed, history);
  DEBUG_ASSERT(is_valid());
}

template <typename Meet>
std::optional<WordLists::Met> WordLists::meet_all(std::uint32_t word, const PackedCell& newer,
                                                  PassesBy passes_by, Meet meet) const {
  Met met;
  std::uint32_t count = 0;
  for (std::uint32_t slot = first_of(word); slot != kNone; slot = slots_[slot].next()) {
    const PackedCell& older = slots_[slot];
    met.last = slot;
    if (is_passed(older, newer, passes_by)) {
      ++count;
      continue;
    }
    if (passes_by != PassesBy::kNobody && met.own == kNone && older.is_one_with(newer)) {
      met.own = slot;
      ++count;
      continue;
    }
    const Meeting meeting = meet(unpack(older, word));
    if (meeting == Meeting::kIsToBeVisited) {
      return std::nullopt;
    }
    met.goes |= std::uint32_t{meeting == Meeting::kGoes} << count++;
  }
  static_assert(kMostPacked <= 32, "a bit for each");
  const bool fits = met.own != kNone || met.goes != 0 || count < kMostPacked;
  return fits ? std::optional(met) : std::nullopt;
}

template <typename Meet>
bool WordLists::record(const LanesOfWord& lanes, const Alike& alike, Meet meet) {
  const std::uint32_t word = lanes.word_;
  PackedCell packed = alike.packed_;
  packed.place |= lanes.place_;
  if (packed.has_several_lanes()) {
    if (packed.stack_lanes_or_rest != 0) {
      return false;
    }
    packed.stack_lanes_or_rest = lanes.lanes_;
  }
  if (busy(word) != nullptr) {
    return false;
  }
  if (heads_[word] == 0) {
    append(word, kNone, packed);
    return true;
  }
  const std::optional<Met> met = meet_all(word, packed, alike.passes_by_, meet);
  if (!met) {
    return false;
  }
  const std::uint32_t last = met->goes == 0 ? met->last : drop(word, met->goes);
  if (met->own != kNone) {
    slots_[met->own].add_lanes(packed);
  } else {
    append(word, last, packed);
  }
  DEBUG_ASSERT(is_valid());
  return true;
}

// Behind the slot `after`, the last of the word, if it has one.
inline void WordLists::append(std::uint32_t word, std::uint32_t after, const PackedCell& packed) {
  const std::uint32_t slot = take_slot();
  slots_[slot] = packed;
  if (after == kNone) {
    heads_[word] = static_cast<std::uint16_t>(slot + 1U);
  } else {
    slots_[after].set_next(slot);
  }
}

inline std::uint32_t WordLists::take_slot() {
  if (free_ == 0) {
    make_slots();
  }
  const std::uint32_t slot = free_ - 1U;
  free_ = static_cast<std::uint16_t>(slots_[slot].next() + 1U);
  ++used_;
  return slot;
}

template <typename Visit>
void WordLists::look_at(Visit visit) const {
  for (std::uint32_t word = 0; word < kWords; ++word) {
    for (std::uint32_t slot = first_of(word); slot != kNone; slot = slots_[slot].next()) {
      visit(unpack(slots_[slot], word));
    }
    if (const AccessHistory* history = busy(word)) {
      history->look_at(visit);
    }
  }
}

}  // namespace barracuda::detector

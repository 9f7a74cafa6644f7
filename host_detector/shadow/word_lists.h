// The accesses to a block whose words have a list each. The few of a quiet word are packed, to 24
// bytes each where they are 64 elsewhere; a word with many, or with a shared set, has a history of
// its own.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "host_detector/shadow/access_history.h"

namespace barracuda::detector {

// Which earlier accesses with the same launch, site and kind a new access may skip: it neither
// conflicts with them nor replaces them.
enum class PassesBy : std::uint8_t { kNobody, kOtherCtas, kOtherWarps };

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

  // Adds it if the list has nobody whom it would have to meet: but for those that it passes by, one
  // cell of its own moment at most, which it becomes one with. False, and nothing, otherwise.
  [[nodiscard]] bool join(std::uint32_t word, const Cell& cell, PassesBy passes_by);

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
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};  // no slot

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

  // A cell of bytes of one word. It lies in a slot, and its place says which slot is next.
  struct Packed {
    static constexpr std::uint8_t kHasRest = 128;  // beside the flags of a cell

    std::uint32_t launch, cta;
    Time time;
    std::uint32_t site_and_flags;  // 24 and 8 bits
    std::uint32_t stack_or_rest;   // the latter in rests_
    std::uint32_t place;           // which bytes, the warp, which lanes unless the rest says so
  };

  static_assert(sizeof(Packed) == 6 * sizeof(std::uint32_t), "24 bytes, none of them padding");
  static_assert((Packed::kHasRest & (Cell::kReads | Cell::kWrites | Cell::kUniform | Cell::kAgrees |
                                     Cell::kPublished | Cell::kAsynchronous | Cell::kMbarrier)) ==
                0);

  // The part of a word's list that a visit does not see.
  struct Passed {
    std::size_t count = 0;
    std::uint32_t last = kNone;
  };

  // This thread's, empty.
  static AccessHistory& scratch();
  static std::uint32_t next_of(const Packed& packed);
  static void set_next(Packed& packed, std::uint32_t next);

  // Numbered from 1 on, so that heads_ begin as 0.
  [[nodiscard]] std::uint32_t first_of(std::uint32_t word) const { return heads_[word] - 1U; }

  [[nodiscard]] AccessHistory* busy(std::uint32_t word) const {
    return busy_ == nullptr ? nullptr : (*busy_)[word].get();
  }

  [[nodiscard]] Cell unpack(const Packed& of, std::uint32_t word) const;
  [[nodiscard]] bool is_passed(const Packed& older, const Cell& cell, PassesBy passes_by) const;
  // Moves those that `cell` does not pass by into `seen`.
  Passed take_out(std::uint32_t word, const Cell& cell, PassesBy passes_by, Cells& seen);
  void keep(std::uint32_t word, Passed passed, AccessHistory& history);
  void append(std::uint32_t word, std::uint32_t after, const Cell& cell);
  // False if the cell in the slot cannot be one with it.
  bool merge(std::uint32_t slot, std::uint32_t word, const Cell& cell);
  void fill(std::uint32_t slot, std::uint32_t word, const Cell& cell);
  void free_rest(const Packed& packed);
  void make_busy(std::uint32_t word, AccessHistory& history);
  void settle_if_quiet(std::uint32_t word);
  std::uint32_t take_slot();
  void free_slot(std::uint32_t slot);
  std::uint32_t keep_rest(const Cell& cell);

  std::unique_ptr<Packed[]> slots_;
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
    settle_if_quiet(word);
    DEBUG_ASSERT(is_valid());
    return;
  }
  AccessHistory& history = scratch();
  const Passed passed = take_out(word, cell, passes_by, history.cells);
  visit(history);
  keep(word, passed, history);
  DEBUG_ASSERT(is_valid());
}

template <typename Visit>
void WordLists::look_at(Visit visit) const {
  for (std::uint32_t word = 0; word < kWords; ++word) {
    for (std::uint32_t slot = first_of(word); slot != kNone; slot = next_of(slots_[slot])) {
      visit(unpack(slots_[slot], word));
    }
    if (const AccessHistory* history = busy(word)) {
      history->look_at(visit);
    }
  }
}

}  // namespace barracuda::detector

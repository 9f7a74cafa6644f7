// The accesses to a block whose words have a list each. The few of a quiet word are packed, to 24
// bytes each where they are 64 elsewhere; a word with many, or with a crowd, has a history of its
// own.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "host_detector/shadow/history.h"

namespace barracuda::detector {

// Whom an access need not meet, of those of its launch and site that are of its kind: with none of
// these it conflicts, and it stands for none of them.
enum class PassesBy : std::uint8_t { kNobody, kOtherCtas, kOtherWarps };

class WordLists {
 public:
  static constexpr std::uint32_t kWords = 32;
  static constexpr std::uint32_t kWordBytes = kBlockBytes / kWords;

  [[nodiscard]] static constexpr Bytes bytes_of(std::uint32_t word) {
    return Bytes::range(word * kWordBytes, kWordBytes);
  }

  // Calls visit(word, part) for the words that it touches, with what it does there.
  template <typename Visit>
  static void for_each_part(const Entry& entry, Visit visit);

  // Of an entry that touches this word only.
  void add(std::uint32_t word, const Entry& entry);

  // Calls visit(history) and keeps what that leaves in it; some of those that `entry` passes by may
  // be missing there. Visits do not nest.
  template <typename Visit>
  void visit(std::uint32_t word, const Entry& entry, PassesBy passes_by, Visit visit);

  [[nodiscard]] bool is_empty() const { return size_ == 0 && busy_ == nullptr; }

  [[nodiscard]] bool is_empty(std::uint32_t word) const {
    return counts_[word] == 0 && busy(word) == nullptr;
  }

  // Calls visit(entry) for all of them.
  template <typename Visit>
  void look_at(Visit visit) const;

 private:
  static constexpr std::size_t kMostPacked = 12;

  // An entry of bytes of one word, or the rest of the one before it.
  struct Packed {
    static constexpr std::uint8_t kHasRest = 128;  // beside the flags of an entry

    std::uint32_t launch, cta;
    Tick tick;
    std::uint32_t site_and_flags;  // 24 and 8 bits
    std::uint32_t stack;
    std::uint32_t place;  // which bytes, the warp, and which lanes unless the rest says so
  };

  struct Rest {
    std::uint64_t value;
    CtaKey superseded_by;
    std::uint32_t sequence, lanes;
  };

  static_assert(sizeof(Rest) == sizeof(Packed));

  // The part of a word's list that a visit does not see.
  struct Passed {
    std::size_t entries = 0, size = 0;  // the latter with their rests
  };

  static bool has_rest(const Entry& entry);
  static Packed pack(const Entry& entry, std::uint32_t word);
  // Behind what it wrote.
  static Packed* put(Packed* at, const Entry& entry, std::uint32_t word);
  // The entry at `packed`, which is moved behind it.
  static Entry unpack(const Packed*& packed, std::uint32_t word);
  // This thread's, empty.
  static History& scratch();

  // Where those of the word begin in packed_.
  [[nodiscard]] std::size_t start_of(std::uint32_t word) const;

  [[nodiscard]] History* busy(std::uint32_t word) const {
    return busy_ == nullptr ? nullptr : (*busy_)[word].get();
  }

  static bool does_pass_by(const Packed& older, const Entry& entry, PassesBy passes_by);
  // Puts those that `entry` passes by first, and the others into `seen`.
  Passed part(std::uint32_t word, const Entry& entry, PassesBy passes_by, Entries& seen);
  void keep(std::uint32_t word, const Passed& passed, History& history);
  void keep_packed(std::uint32_t word, const Passed& passed, const Entries& entries);
  void make_busy(std::uint32_t word, History& history);
  void settle_if_quiet(std::uint32_t word);
  void resize(std::uint32_t word, std::size_t count);

  std::unique_ptr<Packed[]> packed_;
  std::unique_ptr<std::array<std::unique_ptr<History>, kWords>> busy_;  // null while none is
  std::array<std::uint8_t, kWords> counts_{};                           // of each word in packed_
  std::uint16_t size_ = 0, capacity_ = 0;                               // of packed_
};

template <typename Visit>
void WordLists::for_each_part(const Entry& entry, Visit visit) {
  if (const std::uint32_t word = entry.bytes.first() / kWordBytes;
      entry.bytes.within(bytes_of(word))) {
    visit(word, entry);
    return;
  }
  Entry part = entry;
  for (Bytes rest = entry.bytes; !rest.none(); rest = rest & ~part.bytes) {
    const std::uint32_t word = rest.first() / kWordBytes;
    part.bytes = rest & bytes_of(word);
    visit(word, part);
  }
}

template <typename Visit>
void WordLists::visit(std::uint32_t word, const Entry& entry, PassesBy passes_by, Visit visit) {
  if (History* history = busy(word)) {
    visit(*history);
    settle_if_quiet(word);
    return;
  }
  History& history = scratch();
  const Passed passed = part(word, entry, passes_by, history.entries);
  visit(history);
  keep(word, passed, history);
}

template <typename Visit>
void WordLists::look_at(Visit visit) const {
  const Packed* at = packed_.get();
  for (std::uint32_t word = 0; word < kWords; ++word) {
    for (const Packed* end = at + counts_[word]; at != end;) {
      visit(unpack(at, word));
    }
    if (const History* history = busy(word)) {
      history->look_at(visit);
    }
  }
}

}  // namespace barracuda::detector

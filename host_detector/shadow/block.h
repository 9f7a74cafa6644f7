// Shadow of 128 bytes of memory: the accesses that later ones must be compared with. While that is
// a single access, as it mostly is where accesses are coalesced, it lies in the block itself, in
// one cache line. With more there is one list, and when that gets long one for each word.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include <tbb/spin_mutex.h>

#include "host_detector/shadow/access_history.h"
#include "host_detector/shadow/word_lists.h"

namespace barracuda::detector {

inline constexpr std::size_t kLineBytes = 64;

class alignas(kLineBytes) Block {
 public:
  // A list of more than kSplitAt cells is split if half of them have few words; a long one also
  // if they have less than all, a short one if all have one.
  static constexpr std::size_t kShort = 2, kSplitAt = 6, kLong = 24;

  // What a visit may leave out.
  struct Shortcuts {
    bool is_recorded = false;  // a list where it meets nobody gets it without a visit
    PassesBy passes_by = PassesBy::kNobody;
  };

  // Calls visit(history, cell, records) for the histories that `cell` concerns, with the cell
  // cut to each; the one that `records` is where it belongs.
  template <typename Visit>
  void for_each_history(const Cell& cell, const Shortcuts& shortcuts, Visit visit);

  // Records lanes where WordLists::record can. False, and nothing, otherwise. `cell` makes the
  // cell of it.
  template <typename MakeCell, typename Meet>
  [[nodiscard]] bool record(const WordLists::LanesOfWord& lanes, const WordLists::Alike& alike,
                            MakeCell cell, Meet meet);
  void clear();
  void clear(const Bytes& bytes);

  // Which bytes of a cell are to go.
  using Choice = std::function<Bytes(const Cell&)>;
  void clear(const Bytes& bytes, const Choice& choose);

  // Calls visit(cell) for all of them.
  template <typename Visit>
  void look_at(Visit visit) const;

  // What it has is in one place.
  [[nodiscard]] bool is_valid() const;

  [[nodiscard]] bool is_split() const { return lists_ != nullptr && lists_->words != nullptr; }

  // Of who uses the block, where several threads may.
  [[nodiscard]] tbb::spin_mutex& mutex() { return mutex_; }

 private:
  struct Lists {
    // Accesses to the whole block; before the split, to parts of it as well. Null while there is
    // none.
    std::unique_ptr<AccessHistory> whole;
    std::unique_ptr<WordLists> words;

    template <typename Visit>
    void for_each_history(const Cell& cell, const Shortcuts& shortcuts, Visit visit);
    void split_if_worthwhile();
    void drop_whole_if_empty();
  };

  // Has only what can be said in the block itself.
  static bool is_plain(const Cell& cell) {
    return !cell.is_superseded() && cell.outdated_by == 0 && cell.sequence == 0;
  }

  [[nodiscard]] bool has_only() const { return !bytes_.none(); }

  [[nodiscard]] Cell only() const;
  void set_only(const Cell& cell);
  // What a visit has left of its only cell.
  void keep(AccessHistory& history);
  // Its only cell has a word for itself, and becomes the first of many. False if it has not, or has
  // this one.
  [[nodiscard]] bool divide_for(std::uint32_t word);

  // Of the only cell. No bytes: there is none.
  Bytes bytes_;
  std::uint64_t value_ = 0;
  CtaKey cta_{};
  Time time_ = 0;
  std::uint32_t site_ = 0;
  std::uint32_t stack_ = 0;
  std::uint32_t lanes_ = 0;
  std::uint8_t warp_ = 0;
  std::int8_t lane_base_ = 0;
  std::uint8_t lane_shift_ = 0;
  std::uint8_t flags_ = 0;
  tbb::spin_mutex mutex_;
  std::unique_ptr<Lists> lists_;  // null while one cell is enough
};

static_assert(sizeof(Block) == kLineBytes && sizeof(tbb::spin_mutex) <= 4 &&
                  sizeof(Bytes) + 2 * sizeof(std::uint64_t) + 4 * sizeof(std::uint32_t) +
                          4 * sizeof(std::uint8_t) + 4 + sizeof(void*) ==
                      kLineBytes,
              "the only cell, the mutex and the lists are a cache line");

inline Cell Block::only() const {
  Cell cell;
  cell.bytes = bytes_;
  cell.value = value_;
  cell.cta = cta_;
  cell.time = time_;
  cell.site = site_;
  cell.stack = stack_;
  cell.lanes = lanes_;
  cell.warp = warp_;
  cell.lane_base = lane_base_;
  cell.lane_shift = lane_shift_ & 7U;
  cell.flags = flags_;
  return cell;
}

inline void Block::set_only(const Cell& cell) {
  DEBUG_ASSERT(is_plain(cell) && cell.is_valid());
  bytes_ = cell.bytes;
  value_ = cell.value;
  cta_ = cell.cta;
  time_ = cell.time;
  site_ = cell.site;
  stack_ = cell.stack;
  lanes_ = cell.lanes;
  warp_ = cell.warp;
  lane_base_ = cell.lane_base;
  lane_shift_ = cell.lane_shift;
  flags_ = cell.flags;
}

template <typename Visit>
void Block::for_each_history(const Cell& cell, const Shortcuts& shortcuts, Visit visit) {
  DEBUG_ASSERT(!shortcuts.is_recorded || (cell.is_valid() && cell.has_lanes()));
  if (lists_ != nullptr) {
    lists_->for_each_history(cell, shortcuts, visit);
    DEBUG_ASSERT(is_valid());
    return;
  }
  if (!has_only() && shortcuts.is_recorded && is_plain(cell)) {
    set_only(cell);
    return;
  }
  AccessHistory history;
  if (has_only()) {
    history.cells.push_back(only());
  }
  visit(history, cell, true);
  keep(history);
  DEBUG_ASSERT(is_valid());
}

template <typename MakeCell, typename Meet>
bool Block::record(const WordLists::LanesOfWord& lanes, const WordLists::Alike& alike,
                   MakeCell cell, Meet meet) {
  if (lists_ == nullptr) {
    if (!has_only()) {
      set_only(cell());
      return true;
    }
    if (!divide_for(lanes.word())) {
      return false;
    }
  }
  return lists_->words != nullptr && lists_->whole == nullptr &&
         lists_->words->record(lanes, alike, meet);
}

template <typename Visit>
void Block::Lists::for_each_history(const Cell& cell, const Shortcuts& shortcuts, Visit visit) {
  const bool is_whole = words == nullptr || cell.bytes == Bytes::upto(kBlockBytes);
  if (whole == nullptr && is_whole) {
    whole = std::make_unique<AccessHistory>();
  }
  if (whole != nullptr) {
    visit(*whole, cell, is_whole);
  }
  if (words == nullptr) {
    if (whole->cells.size() > kShort) {
      split_if_worthwhile();
    }
    return;
  }
  drop_whole_if_empty();
  WordLists::for_each_part(cell, [&](std::uint32_t word, const Cell& part) {
    const bool is_recorded = shortcuts.is_recorded && !is_whole;
    if (words->is_empty(word)) {
      if (is_recorded) {
        words->add(word, part);
      }
    } else if (!is_recorded || !words->join(word, part, shortcuts.passes_by)) {
      words->visit_for(word, part, shortcuts.passes_by,
                       [&](AccessHistory& history) { visit(history, part, !is_whole); });
    }
  });
  if (is_whole && words->is_empty()) {
    words.reset();
  }
}

template <typename Visit>
void Block::look_at(Visit visit) const {
  if (has_only()) {
    visit(only());
  }
  if (lists_ != nullptr) {
    if (lists_->whole != nullptr) {
      lists_->whole->look_at(visit);
    }
    if (lists_->words != nullptr) {
      lists_->words->look_at(visit);
    }
  }
}

}  // namespace barracuda::detector

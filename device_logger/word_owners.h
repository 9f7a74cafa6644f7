// What the logger keeps of the accesses to each granule of memory that a launch writes, in kernels
// whose threads nothing but barriers of their blocks orders (ptx/passes/barrier_intervals.cpp),
// where it was not known before the launch which thread accesses what: as long as one thread alone
// has accessed a granule in an interval of its block's barriers, and no other block, or nobody has
// written it, nothing of it is logged. Whose access may conflict with what was kept logs that, and
// then itself; from then on all that the launch does to the granule is logged. Nothing is judged
// here: docs/decisions/device-filter.md has the proof that the detector sees what it needs. One
// source for the GPU and for the host.
//
// Blocks never learn of each other in such a launch, and the threads of a block learn of each other
// at its barriers. So of an access that a thread of another block made, and of one that a thread of
// the same block made in an earlier interval, it says all that it was made by that thread, and is
// ordered before whatever its own block does now (RecordKind::kSettled). One of the same block and
// interval is logged as if it was made now (kEarlier).
#pragma once

#include <cstddef>
#include <cstdint>

#include "device_logger/shared_states.h"

namespace barracuda::wire {

// Each watched granule has a state, zeroed before the launch, and, in front of all states and in
// the reverse order, a word that some kinds of states have besides. It is written behind the change
// of the state, and names the kind that it belongs to: who sees the one without the other waits.
inline constexpr std::uint32_t kOwnerBytes = 8;

struct OwnedAccess {
  std::uint32_t thread = 0;     // in its block
  std::uint32_t block = 0;      // linear, as the device numbers it
  std::uint32_t site = 0;       // in its kernel
  std::uint32_t size_log2 = 0;  // of its bytes
  std::uint32_t interval = 0;
  std::uint32_t counted = 0;  // warp_bits() of it; of what was kept 0

  // Of its block, whatever barriers of its warps there were in it.
  [[nodiscard]] BARRACUDA_WIRE bool is_of_interval(std::uint32_t other) const {
    return ((interval ^ other) & ~counted) == 0;
  }
};

// What a thread does to a granule.
struct OwnerAccess {
  OwnedAccess by;
  StateUse use = StateUse::kLogged;
  std::uint32_t value_mark = 0;  // of the value that is stored; 0: it is not known
};

inline constexpr std::uint32_t kMostOwnerBlocks = 1U << 23;
inline constexpr std::uint32_t kMostOwnedSizeLog2 = 4;

// Of the thread, but for the value. `interval` as shared_states.h has it: who is frozen logs all,
// and so does who counts intervals a second time: all that its block has kept is of earlier ones,
// so it has the number that none has.
BARRACUDA_WIRE OwnerAccess owner_access(std::uint32_t site, std::uint32_t first_site,
                                        std::uint32_t thread, std::uint32_t block,
                                        std::uint32_t interval, std::uint64_t address) {
  const std::uint32_t size_log2 = site >> kSizeShift & ((1U << kSizeBits) - 1);
  const std::uint32_t counted = warp_bits(interval), number = (interval & kLaterRound) != 0
                                                                  ? kMostIntervals
                                                                  : interval & kMostIntervals;
  const bool is_kept = (interval & (kFrozen | kLaterRound)) == 0 && !is_last_counted(interval) &&
                       size_log2 <= kMostOwnedSizeLog2 && (address & ((1U << size_log2) - 1)) == 0;
  const StateUse use = state_use(site);
  return {.by = {.thread = thread,
                 .block = block,
                 .site = (site & (kMaxSites - 1)) - first_site,
                 .size_log2 = is_kept ? size_log2 : 0,
                 .interval = number,
                 .counted = counted},
          .use = is_kept && use != StateUse::kReduction ? use : StateUse::kLogged};
}

// A state is a word of 64 bits, 0 at first.
class WordOwner {
 public:
  enum class Kind : std::uint32_t {
    kNone,
    kRead,         // by one thread, or by others in intervals of its block before it
    kReads,        // by another one as well, in the word; and maybe by more
    kWrite,        // by one thread, of what is not known to be one value of its warp
    kMarkedWrite,  // of a known value: the word has its mark
    kReadWrite,    // kWrite, and what it read since or, of a known value, before: in the word
    kLogged,       // so is every access from now on
    kReadBehind,   // a write, and the newest read of its block, in an interval behind it, in which
                   // no other thread of the block has read: the thread and interval of the read are
                   // in the state, for they decide what conflicts; the write's in the word
    kReadsBehind,  // kReadBehind, and a read of that interval by another thread, of as many bytes,
                   // in the word; and maybe by more
  };

  BARRACUDA_WIRE explicit WordOwner(std::uint64_t bits) : bits_(bits) {}

  BARRACUDA_WIRE static WordOwner of(Kind kind, const OwnedAccess& by = {}) {
    return WordOwner(
        static_cast<std::uint64_t>(kind) | std::uint64_t{by.interval} << kIntervalShift |
        std::uint64_t{by.site} << kSiteShift | std::uint64_t{by.size_log2} << kSizeShift |
        std::uint64_t{by.thread} << kThreadShift | std::uint64_t{by.block} << kBlockShift);
  }

  [[nodiscard]] BARRACUDA_WIRE std::uint64_t bits() const { return bits_; }

  [[nodiscard]] BARRACUDA_WIRE Kind kind() const {
    return static_cast<Kind>(bits_ & ((1U << kKindBits) - 1));
  }

  // What its bits name: one access, or of kReadBehind a part of each.
  [[nodiscard]] BARRACUDA_WIRE OwnedAccess first() const {
    const auto bits = [this](int shift, std::uint32_t mask) {
      return static_cast<std::uint32_t>(bits_ >> shift) & mask;
    };
    return {.thread = bits(kThreadShift, (1U << kThreadBits) - 1),
            .block = bits(kBlockShift, kMostOwnerBlocks - 1),
            .site = bits(kSiteShift, kMostStateSites - 1),
            .size_log2 = bits(kSizeShift, (1U << kSizeBits) - 1),
            .interval = bits(kIntervalShift, kMostIntervals)};
  }

  // The word beside a state of that kind which has this second access, or a value's mark.
  [[nodiscard]] BARRACUDA_WIRE static std::uint64_t word_of(Kind kind, WordOwner second) {
    return second.with(kind).bits();
  }

  [[nodiscard]] BARRACUDA_WIRE static std::uint64_t word_of_mark(std::uint32_t mark) {
    return std::uint64_t{mark} << kKindBits | static_cast<std::uint64_t>(Kind::kMarkedWrite);
  }

  // The word of kReadsBehind for that of kReadBehind, with the second reader where it has a block.
  [[nodiscard]] BARRACUDA_WIRE static std::uint64_t word_of_readers(std::uint64_t word,
                                                                    const OwnedAccess& second) {
    OwnedAccess beside = WordOwner(word).first();
    beside.block = second.site << kThreadBits | second.thread;
    return of(Kind::kReadsBehind, beside).bits_;
  }

  // Of reads behind a write the word has their interval as well.
  [[nodiscard]] BARRACUDA_WIRE bool is_word(std::uint64_t word) const {
    const WordOwner beside(word);
    return beside.kind() == kind() &&
           (!is_read_behind() || beside.first().interval == first().interval);
  }

  // In place of a word that does not come.
  [[nodiscard]] BARRACUDA_WIRE std::uint64_t word_instead() const {
    return kind() == Kind::kReadsBehind ? word_of_readers(bits_, first()) : bits_;
  }

  // The first of what was kept, the second or the third, with what the word has of them.
  [[nodiscard]] BARRACUDA_WIRE OwnedAccess kept(std::uint32_t which, std::uint64_t word) const {
    const OwnedAccess here = first(), beside = WordOwner(word).first();
    if (!is_read_behind()) {
      return which == 0 ? here : beside;
    }
    OwnedAccess kept = which == 0 ? here : beside;
    kept.thread = which == 0   ? beside.thread
                  : which == 1 ? here.thread
                               : beside.block & ((1U << kThreadBits) - 1);
    kept.site = which == 2 ? beside.block >> kThreadBits : kept.site;
    kept.interval = which == 0 ? 0 : here.interval;  // some interval before the reads'
    kept.block = here.block;
    return kept;
  }

  [[nodiscard]] BARRACUDA_WIRE bool is_of(const OwnedAccess& by) const {
    return (of(Kind::kNone, by).bits_ ^ bits_) >> kThreadShift == 0;
  }

  [[nodiscard]] BARRACUDA_WIRE bool is_read_behind() const {
    return kind() == Kind::kReadBehind || kind() == Kind::kReadsBehind;
  }

  // How many accesses it keeps.
  [[nodiscard]] BARRACUDA_WIRE std::uint32_t count() const {
    return kind() == Kind::kNone || kind() == Kind::kLogged  ? 0
           : kind() == Kind::kReadsBehind                    ? 3
           : kind() == Kind::kRead || kind() == Kind::kWrite ? 1
           : kind() == Kind::kMarkedWrite                    ? 1
                                                             : 2;
  }

  [[nodiscard]] BARRACUDA_WIRE WordOwner with(Kind kind) const {
    return WordOwner((bits_ >> kKindBits << kKindBits) | static_cast<std::uint64_t>(kind));
  }

 private:
  static constexpr int kKindBits = 4, kSizeBits = 3, kThreadBits = 10, kBlockBits = 23;
  static constexpr int kIntervalShift = kKindBits,
                       kSiteShift = kIntervalShift + static_cast<int>(kIntervalBits),
                       kSizeShift = kSiteShift + static_cast<int>(kStateSiteBits),
                       kThreadShift = kSizeShift + kSizeBits,
                       kBlockShift = kThreadShift + kThreadBits;
  static_assert(kBlockShift + kBlockBits == 64 && kMostOwnerBlocks == 1U << kBlockBits,
                "every bit of a state has one meaning");
  static_assert(static_cast<std::uint32_t>(Kind::kReadsBehind) < 1U << kKindBits &&
                kMostOwnedSizeLog2 < 1U << kSizeBits);
  static_assert(static_cast<int>(kStateSiteBits) + kThreadBits <= kBlockBits,
                "a second reader is where the word has a block");

  std::uint64_t bits_;
};

// What an access makes of a state.
struct OwnerStep {
  WordOwner next;
  bool logs;       // the access is logged, behind what the old state has
  bool sets_word;  // to `word`, behind the change of the state
  std::uint64_t word;
};

// No constants: nvcc would make variables of them, which it loads from memory.
BARRACUDA_WIRE OwnerStep to_owner(WordOwner next) {
  return {.next = next, .logs = false, .sets_word = false, .word = 0};
}

BARRACUDA_WIRE OwnerStep to_owner(WordOwner next, WordOwner second, bool sets_word) {
  return {.next = next,
          .logs = false,
          .sets_word = sets_word,
          .word = WordOwner::word_of(next.kind(), second)};
}

BARRACUDA_WIRE OwnerStep to_logged(WordOwner state) {
  return {
      .next = state.with(WordOwner::Kind::kLogged), .logs = true, .sets_word = false, .word = 0};
}

// All that was kept is of by's block and of earlier intervals: `by` is behind it, so it can take
// its place. Whoever conflicts with what was kept is of another block, and conflicts with both.
BARRACUDA_WIRE bool is_behind(WordOwner state, const OwnedAccess& by) {
  const OwnedAccess first = state.first();
  return first.block == by.block && !by.is_of_interval(first.interval);
}

// Of readers two are kept: of two blocks if there are any, else of the newest interval, and of two
// sites. So some pair races if any of them races with a write that comes.
template <class LoadWord>
BARRACUDA_LOGGER OwnerStep owner_read_again(WordOwner state, const OwnedAccess& by,
                                            const LoadWord& load_word) {
  using Kind = WordOwner::Kind;
  const WordOwner beside(load_word());
  const OwnedAccess first = state.first(), second = beside.first();
  const WordOwner read = WordOwner::of(Kind::kRead, by);
  const bool is_of_one = first.block == second.block;
  if (is_behind(state, by)) {
    return to_owner(WordOwner::of(is_of_one ? Kind::kRead : Kind::kReads, by));
  }
  const bool is_new_site =
      is_of_one && first.thread != by.thread && first.site == second.site && first.site != by.site;
  return to_owner(state, read,
                  first.block == by.block ? is_new_site : is_of_one || is_behind(beside, by));
}

// A write stays, for the reads of other blocks that may come. Its thread was written to the word in
// an earlier interval, so it is there.
template <class LoadWord>
BARRACUDA_LOGGER OwnerStep owner_read_behind(WordOwner state, const OwnedAccess& by,
                                             const LoadWord& load_word) {
  using Kind = WordOwner::Kind;
  OwnedAccess here = state.first(), beside = by;
  beside.thread = state.is_read_behind() ? WordOwner(load_word()).first().thread : here.thread;
  here.thread = by.thread;
  here.interval = by.interval;
  return to_owner(WordOwner::of(Kind::kReadBehind, here), WordOwner::of(Kind::kRead, beside), true);
}

// In the interval of the read that is kept, by another thread of its block: of many two are kept,
// of two sites if there are any. The word has one size for both, and one number of what barriers of
// a warp there were.
template <class LoadWord>
BARRACUDA_LOGGER OwnerStep owner_reads_behind(WordOwner state, const OwnedAccess& by,
                                              const LoadWord& load_word) {
  using Kind = WordOwner::Kind;
  const std::uint64_t word = load_word();
  const OwnedAccess first = state.kept(1, word);
  const bool is_second = state.kind() == Kind::kReadBehind;
  if (by.size_log2 != first.size_log2 || by.interval != first.interval) {
    return is_second ? to_logged(state) : to_owner(state);
  }
  return {
      .next = state.with(Kind::kReadsBehind),
      .logs = false,
      .sets_word = is_second || (first.site == state.kept(2, word).site && first.site != by.site),
      .word = WordOwner::word_of_readers(word, by)};
}

template <class LoadWord>
BARRACUDA_LOGGER OwnerStep owner_read_step(WordOwner state, const OwnedAccess& by,
                                           const LoadWord& load_word) {
  using Kind = WordOwner::Kind;
  const WordOwner read = WordOwner::of(Kind::kRead, by);
  if (state.kind() == Kind::kNone) {
    return to_owner(read);
  }
  if (state.kind() == Kind::kReads) {
    return owner_read_again(state, by, load_word);
  }
  if (state.kind() == Kind::kRead) {
    return state.is_of(by) || is_behind(state, by) ? to_owner(read)
                                                   : to_owner(state.with(Kind::kReads), read, true);
  }
  if (is_behind(state, by)) {
    return owner_read_behind(state, by, load_word);
  }
  if (state.is_read_behind()) {
    return state.is_of(by)                   ? to_owner(state)
           : state.first().block == by.block ? owner_reads_behind(state, by, load_word)
                                             : to_logged(state);
  }
  return state.is_of(by) ? to_owner(state.with(Kind::kReadWrite), read, true) : to_logged(state);
}

// As shared_states.h has it for a thread's own accesses. Of many readers it is not known that all
// are before it.
template <class LoadWord>
BARRACUDA_LOGGER OwnerStep owner_write_step(WordOwner state, const OwnerAccess& access,
                                            const LoadWord& load_word) {
  using Kind = WordOwner::Kind;
  const Kind kind = state.kind();
  const bool is_after =
      is_behind(state, access.by) || (state.is_of(access.by) && kind != Kind::kReadsBehind);
  if (kind == Kind::kReads || (kind != Kind::kNone && !is_after)) {
    return to_logged(state);
  }
  if (access.value_mark == 0) {
    return to_owner(WordOwner::of(Kind::kWrite, access.by));
  }
  if (state.is_read_behind()) {
    return to_owner(WordOwner::of(Kind::kReadWrite, access.by),
                    WordOwner::of(Kind::kRead, state.kept(1, load_word())), true);
  }
  if (kind == Kind::kRead || kind == Kind::kReadWrite) {
    return to_owner(WordOwner::of(Kind::kReadWrite, access.by), state, kind == Kind::kRead);
  }
  const std::uint64_t word = WordOwner::word_of_mark(access.value_mark);
  return {.next = WordOwner::of(Kind::kMarkedWrite, access.by),
          .logs = false,
          .sets_word = kind != Kind::kMarkedWrite || load_word() != word,
          .word = word};
}

// `load_word()` gives the word beside the state, which is of its kind.
template <class LoadWord>
BARRACUDA_LOGGER OwnerStep owner_step(WordOwner state, const OwnerAccess& access,
                                      const LoadWord& load_word) {
  if (state.kind() == WordOwner::Kind::kLogged || access.use == StateUse::kLogged) {
    return to_logged(state);
  }
  return access.use == StateUse::kRead ? owner_read_step(state, access.by, load_word)
                                       : owner_write_step(state, access, load_word);
}

// Whether a write that is kept stored what this access does.
template <class LoadWord>
BARRACUDA_LOGGER bool has_same_value(WordOwner state, const OwnerAccess& access,
                                     const LoadWord& load_word) {
  return access.value_mark != 0 && access.use == StateUse::kWrite &&
         state.kind() == WordOwner::Kind::kMarkedWrite &&
         state.first().size_log2 == access.by.size_log2 &&
         load_word() == WordOwner::word_of_mark(access.value_mark);
}

// Whether what was kept is ordered before all that its block does now. `is_frozen`: who logs it,
// and `by` has the interval in which others left; `has_left`: the thread has.
BARRACUDA_WIRE bool is_settled(const OwnedAccess& kept, const OwnedAccess& by, bool is_frozen,
                               bool has_left) {
  if (kept.block != by.block) {
    return true;
  }
  return !by.is_of_interval(kept.interval) || (is_frozen && !has_left);
}

// The number of the interval in which it was made, as records have it; 0: of what is settled, or
// where barriers of warps are not counted.
BARRACUDA_WIRE std::uint32_t number_of_kept(const OwnedAccess& kept, const OwnedAccess& by,
                                            bool is_settled) {
  return is_settled || by.counted == 0 ? 0 : told_number(kept.interval, by.counted);
}

}  // namespace barracuda::wire

// The state of a granule of shared memory: one word of 64 bits (shared_states.h says what becomes
// of it), and the number that stands for a thread's barrier interval. One source for the GPU and
// for the host.
#pragma once

#include <cstdint>

#include "device_logger/record.h"

namespace barracuda::wire {

inline constexpr std::uint32_t kIntervalBits = 12, kMostIntervals = (1U << kIntervalBits) - 1;
// In the number that stands for a thread's interval: above it, the interval in which others left.
inline constexpr std::uint32_t kFrozen = 1U << 16;
// Set in it once numbers have begun again, for who keeps states that nobody could clear then
// (word_owners.h).
inline constexpr std::uint32_t kLaterRound = 1U << 14;
// Set in it where barriers of whole warps are counted too: the low bits of the number say how many
// there were since the last barrier of the block. Lanes of a warp have the same, and what one of
// them did at a lower one is before what the others do. These barriers are logged by the number,
// when something else of the warp is (RecordKind::kWarpBarriers). With the highest, they and all
// accesses are logged as they come. Nobody leaves such a block while others wait for a barrier.
// There are 3 such bits, and so 510 intervals of the block; with kCountsMany, of kernels that have
// more such barriers in their text, 5 and 126.
inline constexpr std::uint32_t kCountsWarps = 1U << 15, kCountsMany = 1U << 13;
inline constexpr std::uint32_t kFewWarpBarriers = 7, kMostWarpBarriers = 31;

// The bits of a number that count barriers of its warp.
BARRACUDA_WIRE std::uint32_t warp_bits(std::uint32_t interval) {
  return (interval & kCountsWarps) == 0  ? 0
         : (interval & kCountsMany) == 0 ? kFewWarpBarriers
                                         : kMostWarpBarriers;
}

// Whether all that the warp does is logged, and its barriers.
BARRACUDA_WIRE bool is_last_counted(std::uint32_t interval) {
  const std::uint32_t bits = warp_bits(interval);
  return bits != 0 && (interval & bits) == bits;
}

// The number of an interval as records have it: always with room for kMostWarpBarriers. `bits`:
// warp_bits() of the interval, which counts some.
BARRACUDA_WIRE std::uint32_t told_number(std::uint32_t number, std::uint32_t bits) {
  return (number & ~bits) * ((kMostWarpBarriers + 1) / (bits + 1)) + (number & bits);
}

inline constexpr std::uint32_t kMostToldNumber =
    kMostIntervals * ((kMostWarpBarriers + 1) / (kFewWarpBarriers + 1));

BARRACUDA_WIRE std::uint32_t next_interval(std::uint32_t interval, std::uint32_t left) {
  if ((interval & kFrozen) != 0) {
    return interval;
  }
  const std::uint32_t left_in = left == 0 ? kMostIntervals : kMostIntervals - left;
  const std::uint32_t number = (interval & kMostIntervals) | warp_bits(interval);
  if (left_in <= number) {
    return kFrozen | left_in;
  }
  return number + 1 + warp_bits(interval) >= kMostIntervals
             ? kFrozen | kMostIntervals
             : (interval & (kCountsWarps | kCountsMany | kLaterRound)) | (number + 1);
}

// Whether no number comes behind this one. Where all threads of a block come to the next barrier
// together they forget all states behind it, and the numbers begin again when all have met.
BARRACUDA_WIRE bool ends_round(std::uint32_t interval) {
  return (interval & (kFrozen | kCountsWarps)) == 0 &&
         (interval & kMostIntervals) == kMostIntervals - 1;
}

inline constexpr std::uint32_t kFirstOfRound = kLaterRound | 1;
// Above the number in what a hook says: all threads of the block meet before they go on.
inline constexpr std::uint64_t kAllMeet = std::uint64_t{1} << 32;

inline constexpr std::uint32_t kStateSiteBits = 12, kMostStateSites = 1U << kStateSiteBits;

// What the word of an access's site makes of the states of its bytes.
enum class StateUse : std::uint8_t {
  kLogged,  // whatever came before
  kRead,
  kWrite,
  kReduction,
  kCopy,  // a write that a thread only asks for (cp.async): see copy_states.h
};

// An access that was not logged when it was made.
struct KeptAccess {
  std::uint32_t thread = 0;         // in its block
  std::uint32_t site = 0;           // in its kernel
  std::uint32_t granules_log2 = 0;  // of 1, 2, 4 or 8
};

inline constexpr std::uint32_t kMostGranulesLog2 = 3;
// Of the groups of copies that a thread commits. What it commits beyond has the last number.
inline constexpr std::uint32_t kGroupBits = 23, kMostGroups = (1U << kGroupBits) - 1;

struct StateAccess {
  KeptAccess by;
  StateUse use = StateUse::kLogged;
  std::uint32_t value_mark = 0;  // of the value that is stored; 0: it is not known
  bool is_strong = false;        // a load or store that is not weak
  bool is_replicated = false;    // a store of what its compiler has several threads store
  std::uint32_t group = 0;       // of a copy: how many groups its thread has committed before
};

// 23 bits of a stored value, and one for that there is one. Two values have the same by a chance of
// 2^-23: such a conflict is told as a warning where it is an error.
inline constexpr std::uint32_t kMarkBits = 24;

BARRACUDA_WIRE std::uint32_t value_mark(std::uint64_t value) {
  const std::uint64_t mixed = value * 0x9E3779B97F4A7C15ULL;
  return static_cast<std::uint32_t>((mixed ^ mixed << 29) >> (64 - kMarkBits + 1)) |
         1U << (kMarkBits - 1);
}

// A state is a word of 64 bits, 0 at first.
class WordState {
 public:
  enum class Kind : std::uint32_t {
    kEmpty,
    kRead,        // by one thread
    kReads,       // by two, and maybe by more
    kWrite,       // by one thread, which has not read since; with the mark of the value
    kReadWrite,   // by one thread: second() is what it read since, or before a store of a known
                  // value
    kReductions,  // atomics of one size that order nothing, by anybody: they do not race with each
                  // other; second() is as first() while there was one
    kLogged,      // so is every access of this interval from now on
    kReadBehind,  // written by one thread, and read behind a barrier of its warp by lanes of that,
                  // in this interval: second(), and other_reader() if there were several
  };

  BARRACUDA_WIRE explicit WordState(std::uint64_t bits) : bits_(bits) {}

  BARRACUDA_WIRE static WordState of(std::uint32_t interval, Kind kind, const KeptAccess& first,
                                     const KeptAccess& second = {}) {
    return WordState(interval | std::uint64_t{static_cast<std::uint32_t>(kind)} << kKindShift |
                     pack(first) << kFirstShift | pack_second(kind, second) << kSecondShift);
  }

  BARRACUDA_WIRE static WordState of_write(std::uint32_t interval, const KeptAccess& by,
                                           std::uint32_t mark) {
    return WordState(of(interval, Kind::kWrite, by).bits_ | std::uint64_t{mark} << kSecondShift);
  }

  // Atomics of one warp behind a barrier of it, the newest of which is `second`; before that
  // barrier the warp has made the load or store `first`. No other kReductions are strong.
  BARRACUDA_WIRE static WordState of_reduction_behind(std::uint32_t interval,
                                                      const KeptAccess& first,
                                                      const KeptAccess& second) {
    return of(interval, Kind::kReductions, first, second).with_strength(true);
  }

  [[nodiscard]] BARRACUDA_WIRE bool is_reduction_behind() const {
    return bits_ >> kStrongShift != 0 && kind() == Kind::kReductions;
  }

  // Of an asynchronous copy that its thread has to wait for. It stays beyond its interval.
  // `is_logged`: so is every other access of this interval.
  BARRACUDA_WIRE static WordState of_copy(std::uint32_t interval, const KeptAccess& by,
                                          std::uint32_t group, bool is_logged) {
    const std::uint64_t word = group | (is_logged ? std::uint32_t{kLoggedCopy} : 0);
    return WordState(interval | pack(by) << kFirstShift | word << kSecondShift |
                     std::uint64_t{1} << kStrongShift);
  }

  // Nothing that is strong is no other state.
  [[nodiscard]] BARRACUDA_WIRE bool is_copy() const {
    return bits_ >> kStrongShift != 0 && kind() == Kind::kEmpty;
  }

  [[nodiscard]] BARRACUDA_WIRE std::uint32_t group() const {
    return static_cast<std::uint32_t>(bits_ >> kSecondShift) & kMostGroups;
  }

  // Of a copy: whether another access met it in this interval.
  [[nodiscard]] BARRACUDA_WIRE bool is_logged_in(std::uint32_t number) const {
    return (bits_ >> kSecondShift & kLoggedCopy) != 0 && interval() == number;
  }

  // What is left once all intervals are over and their numbers begin again.
  [[nodiscard]] BARRACUDA_WIRE WordState without_interval() const {
    constexpr std::uint64_t kGoes = kMostIntervals | std::uint64_t{kLoggedCopy} << kSecondShift;
    return WordState(is_copy() ? bits_ & ~kGoes : 0);
  }

  [[nodiscard]] BARRACUDA_WIRE std::uint64_t bits() const { return bits_; }

  // Whether all that it keeps are strong. Two of three that race may be kept, and how grave that is
  // depends on who was not, so of both kinds all are logged.
  [[nodiscard]] BARRACUDA_WIRE bool is_strong() const { return bits_ >> kStrongShift != 0; }

  [[nodiscard]] BARRACUDA_WIRE WordState with_strength(bool is_strong) const {
    return WordState((bits_ & ~(std::uint64_t{1} << kStrongShift)) | std::uint64_t{is_strong}
                                                                         << kStrongShift);
  }

  // With the same interval and first access.
  [[nodiscard]] BARRACUDA_WIRE WordState with(Kind kind, const KeptAccess& second) const {
    constexpr std::uint64_t kStays =
        ((std::uint64_t{1} << kSecondShift) - 1) & ~(7ULL << kKindShift);
    return WordState((bits_ & kStays) |
                     std::uint64_t{static_cast<std::uint32_t>(kind)} << kKindShift |
                     pack_second(kind, second) << kSecondShift);
  }

  // Of a kReadBehind: with a lane that reads as second() did, and is another.
  [[nodiscard]] BARRACUDA_WIRE WordState with_other_reader(std::uint32_t lane) const {
    constexpr std::uint64_t kOther = std::uint64_t{kWarpLanes - 1} << (kSecondShift + kLaneBits);
    return WordState((bits_ & ~kOther) | std::uint64_t{lane} << (kSecondShift + kLaneBits));
  }

  [[nodiscard]] BARRACUDA_WIRE std::uint32_t interval() const {
    return static_cast<std::uint32_t>(bits_) & kMostIntervals;
  }

  [[nodiscard]] BARRACUDA_WIRE Kind kind() const {
    return static_cast<Kind>(bits_ >> kKindShift & 7);
  }

  [[nodiscard]] BARRACUDA_WIRE KeptAccess first() const { return unpack(bits_ >> kFirstShift); }

  [[nodiscard]] BARRACUDA_WIRE KeptAccess second() const {
    KeptAccess access = unpack(bits_ >> kSecondShift);
    if (kind() == Kind::kReadBehind) {  // the warp is first()'s
      access.thread = warp_of_first() | (access.thread & (kWarpLanes - 1));
    }
    return access;
  }

  // Of a kReadBehind: as second(), by another lane; the same where there was one.
  [[nodiscard]] BARRACUDA_WIRE KeptAccess other_reader() const {
    KeptAccess access = unpack(bits_ >> kSecondShift);
    access.thread = warp_of_first() | access.thread >> kLaneBits;
    return access;
  }

  // Which of what it keeps an access of `thread` may conflict with: first(), or second() and, where
  // that is of the thread itself, who read beside it.
  [[nodiscard]] BARRACUDA_WIRE KeptAccess kept(std::uint32_t which, std::uint32_t thread) const {
    return which == 0                                                 ? first()
           : kind() == Kind::kReadBehind && second().thread == thread ? other_reader()
                                                                      : second();
  }

  [[nodiscard]] BARRACUDA_WIRE std::uint32_t mark() const {
    return static_cast<std::uint32_t>(bits_ >> kSecondShift) & ((1U << kMarkBits) - 1);
  }

 private:
  friend class CopyProgress;

  static constexpr int kThreadBits = 10, kGranulesBits = 2, kLaneBits = 5;
  static_assert(1U << kLaneBits == kWarpLanes && kThreadBits == 2 * kLaneBits);
  static constexpr int kAccessBits = kThreadBits + kStateSiteBits + kGranulesBits;
  static constexpr int kKindShift = kIntervalBits, kFirstShift = kKindShift + 3,
                       kSecondShift = kFirstShift + kAccessBits;
  static constexpr int kStrongShift = kSecondShift + kAccessBits;
  static constexpr std::uint32_t kLoggedCopy = kMostGroups + 1;
  static_assert(kStrongShift + 1 == 64 && kMarkBits <= kAccessBits && kGroupBits + 1 == kAccessBits,
                "every bit of a state has one meaning");
  static_assert(static_cast<std::uint32_t>(Kind::kReadBehind) < 1U << (kFirstShift - kKindShift) &&
                kMostGranulesLog2 < 1U << kGranulesBits);

  BARRACUDA_WIRE static std::uint64_t pack(const KeptAccess& access) {
    return access.thread | access.site << kThreadBits |
           access.granules_log2 << (kThreadBits + kStateSiteBits);
  }

  BARRACUDA_WIRE static std::uint64_t pack_second(Kind kind, KeptAccess second) {
    if (kind == Kind::kReadBehind) {
      second.thread = (second.thread & (kWarpLanes - 1)) * (kWarpLanes + 1);  // alone so far
    }
    return pack(second);
  }

  [[nodiscard]] BARRACUDA_WIRE std::uint32_t warp_of_first() const {
    return first().thread & ~(kWarpLanes - 1);
  }

  BARRACUDA_WIRE static KeptAccess unpack(std::uint64_t bits) {
    return {.thread = static_cast<std::uint32_t>(bits) & ((1U << kThreadBits) - 1),
            .site = static_cast<std::uint32_t>(bits >> kThreadBits) & (kMostStateSites - 1),
            .granules_log2 = static_cast<std::uint32_t>(bits >> (kThreadBits + kStateSiteBits)) &
                             kMostGranulesLog2};
  }

  std::uint64_t bits_ = 0;
};

}  // namespace barracuda::wire

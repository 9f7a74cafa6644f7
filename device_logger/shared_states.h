// What the logger keeps of the accesses to each word of shared memory between two barriers of its
// block, in kernels whose threads nothing but such barriers orders (ptx/passes/barrier_epochs.cpp).
// As long as no two accesses conflict, none is logged. The first that does logs those that were
// kept before it, as if they were made now, and itself; the rest of the epoch is logged as always.
// Nothing is judged here: docs/decisions/device-filter.md has the proof that the detector sees what
// it needs. One source for the GPU and for the host.
//
// A thread's epoch is the number of barriers of its whole block that it has passed. What was done
// in an earlier epoch is ordered before all that a block does now, but for threads that left: they
// count as arrived, and no edge leads from them (RACE_RULES section 1). Who passes a barrier that a
// thread has left out is frozen: all that it does is logged, and what those who left have done.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device_logger/address_pattern.h"
#include "device_logger/record.h"

namespace barracuda::wire {

// In a launch descriptor.
struct SharedStates {
  std::uint64_t address = 0;     // of the first block's; 0: everything is logged
  std::uint32_t window = 0;      // bytes of shared memory, from offset 0, whose words have states
  std::uint32_t first_site = 0;  // of the kernel
};

static_assert(offsetof(SharedStates, window) == 8 && offsetof(SharedStates, first_site) == 12 &&
              sizeof(SharedStates) == 16);

// The states of a block begin with: kMostEpochs minus the epoch in which threads left, 0 while none
// did; from kLeftMasks on, of each warp, its lanes that left then.
inline constexpr std::uint32_t kLeftMasks = 64, kStatesHeader = 256;
static_assert(kLeftMasks + 1024 / kWarpLanes * 4 <= kStatesHeader);

BARRACUDA_WIRE std::uint64_t states_bytes(std::uint32_t window) {
  return kStatesHeader + std::uint64_t{window} / 4 * sizeof(std::uint64_t);
}

inline constexpr std::uint32_t kEpochBits = 12, kMostEpochs = (1U << kEpochBits) - 1;
// In the number that stands for a thread's epoch: above it, the epoch in which others left.
inline constexpr std::uint32_t kFrozen = 1U << 16;

BARRACUDA_WIRE std::uint32_t next_epoch(std::uint32_t epoch, std::uint32_t left) {
  if ((epoch & kFrozen) != 0) {
    return epoch;
  }
  const std::uint32_t left_in = left == 0 ? kMostEpochs : kMostEpochs - left;
  if (left_in <= epoch) {
    return kFrozen | left_in;
  }
  return epoch + 1 == kMostEpochs ? kFrozen | kMostEpochs : epoch + 1;
}

inline constexpr std::uint32_t kStateSiteBits = 12, kMostStateSites = 1U << kStateSiteBits;

// An access that was not logged when it was made.
struct KeptAccess {
  std::uint32_t thread = 0;     // in its block
  std::uint32_t site = 0;       // in its kernel
  std::uint32_t size_log2 = 0;  // of 4, 8 or 16 bytes
};

struct StateAccess {
  KeptAccess by;
  bool is_read = false, is_write = false;  // neither: it is logged, whatever came before
  std::uint32_t value_mark = 0;            // of the value that is stored; 0: it is not known
};

// 24 bits of a stored value, and one for that there is one. Two values have the same by a chance of
// 2^-24: such a conflict is told as a warning where it is an error.
inline constexpr std::uint32_t kMarkBits = 25;

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
    kRead,       // by one thread
    kReads,      // by two, and maybe by more
    kWrite,      // by one thread, which has not read since; with the mark of the value
    kReadWrite,  // by one thread: second() is what it read since, or before a store of a known
                 // value
    kLogged,     // so is every access of this epoch from now on
  };

  BARRACUDA_WIRE explicit WordState(std::uint64_t bits) : bits_(bits) {}

  BARRACUDA_WIRE static WordState of(std::uint32_t epoch, Kind kind, const KeptAccess& first,
                                     const KeptAccess& second = {}) {
    return WordState(epoch | std::uint64_t{static_cast<std::uint32_t>(kind)} << kKindShift |
                     pack(first) << kFirstShift | pack(second) << kSecondShift);
  }

  BARRACUDA_WIRE static WordState of_write(std::uint32_t epoch, const KeptAccess& by,
                                           std::uint32_t mark) {
    return WordState(of(epoch, Kind::kWrite, by).bits_ | std::uint64_t{mark} << kSecondShift);
  }

  [[nodiscard]] BARRACUDA_WIRE std::uint64_t bits() const { return bits_; }

  [[nodiscard]] BARRACUDA_WIRE std::uint32_t epoch() const {
    return static_cast<std::uint32_t>(bits_) & kMostEpochs;
  }

  [[nodiscard]] BARRACUDA_WIRE Kind kind() const {
    return static_cast<Kind>(bits_ >> kKindShift & 7);
  }

  [[nodiscard]] BARRACUDA_WIRE KeptAccess first() const { return unpack(bits_ >> kFirstShift); }

  [[nodiscard]] BARRACUDA_WIRE KeptAccess second() const { return unpack(bits_ >> kSecondShift); }

  [[nodiscard]] BARRACUDA_WIRE std::uint32_t mark() const {
    return static_cast<std::uint32_t>(bits_ >> kSecondShift) & ((1U << kMarkBits) - 1);
  }

 private:
  static constexpr int kThreadBits = 10, kSizeBits = 2;
  static constexpr int kAccessBits = kThreadBits + kStateSiteBits + kSizeBits;
  static constexpr int kKindShift = kEpochBits, kFirstShift = kKindShift + 3,
                       kSecondShift = kFirstShift + kAccessBits;
  static_assert(kSecondShift + kAccessBits <= 64 && kSecondShift + kMarkBits <= 64);

  BARRACUDA_WIRE static std::uint64_t pack(const KeptAccess& access) {
    return access.thread | std::uint64_t{access.site} << kThreadBits |
           std::uint64_t{access.size_log2 == 0 ? 0 : access.size_log2 - 2}
               << (kThreadBits + kStateSiteBits);
  }

  BARRACUDA_WIRE static KeptAccess unpack(std::uint64_t bits) {
    return {
        .thread = static_cast<std::uint32_t>(bits) & ((1U << kThreadBits) - 1),
        .site = static_cast<std::uint32_t>(bits >> kThreadBits) & (kMostStateSites - 1),
        .size_log2 = 2 + (static_cast<std::uint32_t>(bits >> (kThreadBits + kStateSiteBits)) & 3)};
  }

  std::uint64_t bits_ = 0;
};

// What an access makes of a state.
struct StateStep {
  WordState next;
  bool logs = false;            // the access is logged
  std::uint32_t kept = 0;       // before it first() of the old state (1), second() (2)
  bool has_same_value = false;  // the first stored what this access stores
};

BARRACUDA_WIRE std::uint32_t kept_in(WordState::Kind kind) {
  using Kind = WordState::Kind;
  return kind == Kind::kReads || kind == Kind::kReadWrite ? 3
         : kind == Kind::kRead || kind == Kind::kWrite    ? 1
                                                          : 0;
}

BARRACUDA_WIRE StateStep log_from_now_on(WordState state, std::uint32_t epoch,
                                         const StateAccess& access) {
  const bool is_known = state.kind() == WordState::Kind::kWrite && access.is_write &&
                        access.value_mark != 0 && access.value_mark == state.mark() &&
                        access.by.size_log2 == state.first().size_log2;
  return {.next = WordState::of(epoch, WordState::Kind::kLogged, {}),
          .logs = true,
          .kept = kept_in(state.kind()),
          .has_same_value = is_known};
}

// Of the accesses to a word by several threads that read it, two are kept: of different sites, if
// there are such.
BARRACUDA_WIRE WordState after_read(WordState state, std::uint32_t epoch, const KeptAccess& by) {
  using Kind = WordState::Kind;
  const KeptAccess first = state.first(), second = state.second();
  const bool is_first = first.thread == by.thread;
  switch (state.kind()) {
    case Kind::kRead:
      return is_first ? WordState::of(epoch, Kind::kRead, by)
                      : WordState::of(epoch, Kind::kReads, first, by);
    case Kind::kReads:
      return first.site != second.site || first.site == by.site || is_first
                 ? state
                 : WordState::of(epoch, Kind::kReads, first, by);
    case Kind::kWrite:
    case Kind::kReadWrite:
      return WordState::of(epoch, Kind::kReadWrite, first, by);
    case Kind::kEmpty:
    case Kind::kLogged:
      break;
  }
  return WordState::of(epoch, Kind::kRead, by);
}

// By the only thread that has used the word.
BARRACUDA_WIRE WordState after_write(WordState state, std::uint32_t epoch,
                                     const StateAccess& access) {
  using Kind = WordState::Kind;
  const bool has_read = state.kind() == Kind::kRead || state.kind() == Kind::kReadWrite;
  if (has_read && access.value_mark != 0) {
    return WordState::of(epoch, Kind::kReadWrite, access.by,
                         state.kind() == Kind::kRead ? state.first() : state.second());
  }
  return WordState::of_write(epoch, access.by, access.value_mark);
}

// By a thread that is not frozen.
BARRACUDA_WIRE StateStep step(WordState met, std::uint32_t epoch, const StateAccess& access) {
  using Kind = WordState::Kind;
  const WordState state(met.epoch() == epoch ? met.bits() : 0);
  const bool is_own = state.kind() == Kind::kEmpty ||
                      (state.kind() != Kind::kReads && state.kind() != Kind::kLogged &&
                       state.first().thread == access.by.thread);
  const bool only_reads = state.kind() == Kind::kRead || state.kind() == Kind::kReads;
  if (access.is_read && (is_own || only_reads)) {
    return {.next = after_read(state, epoch, access.by)};
  }
  if (access.is_write && is_own) {
    return {.next = after_write(state, epoch, access)};
  }
  return log_from_now_on(state, epoch, access);
}

// By a frozen one, whose accesses are all logged: those of a thread that left have to be before it.
template <class HasLeft>
BARRACUDA_LOGGER StateStep frozen_step(WordState state, std::uint32_t frozen,
                                       const StateAccess& access, const HasLeft& has_left) {
  const std::uint32_t left_in = frozen & kMostEpochs;
  StateStep step = log_from_now_on(state, left_in, access);
  step.kept &=
      (has_left(state.first().thread) ? 1U : 0U) | (has_left(state.second().thread) ? 2U : 0U);
  if (step.kept == 0 || state.epoch() != left_in) {
    step.kept = 0;
    step.next = state;
  }
  return step;
}

}  // namespace barracuda::wire

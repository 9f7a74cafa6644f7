// What the logger keeps of the accesses to each granule of shared memory (a word, or a byte in
// kernels that use bytes) between two barriers of its block, in kernels whose threads nothing but
// such barriers orders (ptx/passes/barrier_intervals.cpp). As long as no two accesses conflict,
// none is logged. The first that does logs those that were kept before it, as if they were made
// now, and itself; the rest of the interval is logged as always. Nothing is judged here:
// docs/decisions/device-filter.md has the proof that the detector sees what it needs. One source
// for the GPU and for the host.
//
// A thread's interval is the number of barriers of its whole block that it has passed. What was
// done in an earlier interval is ordered before all that a block does now, but for threads that
// left: they count as arrived, and no edge leads from them (RACE_RULES section 1). Who passes a
// barrier that a thread has left out is frozen: all that it does is logged, and what those who left
// have done.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device_logger/address_pattern.h"
#include "device_logger/record.h"
#include "device_logger/site_word.h"
#include "device_logger/symbols.h"
#include "device_logger/word_state.h"

namespace barracuda::wire {

// Where something of a block lies: an address of global memory or, below 2^32, of the block's own
// shared memory.
using BlockPlace = std::uint64_t;

// What the hooks of a block read in its shared memory, at kBlockWords. Every thread stores all of
// it: the entry the descriptor, and 0 behind it; in a kernel that may have states the hook
// __barracuda_begin_block the rest.
struct BlockWords {
  std::uint64_t descriptor;     // address; 0: nothing is logged
  BlockPlace header;            // of what its block keeps besides states; 0: everything is logged
  BlockPlace states;            // 0 as well then
  std::uint32_t window, shape;  // the words of its SharedStates
};

static_assert(offsetof(BlockWords, descriptor) == 0 && offsetof(BlockWords, header) == 8 &&
                  offsetof(BlockWords, states) == 16 && offsetof(BlockWords, window) == 24 &&
                  offsetof(BlockWords, shape) == 28 && sizeof(BlockWords) == kBlockWordsBytes,
              "the entry stores it");

// In a launch descriptor.
struct SharedStates {
  static constexpr int kGranuleBits = 3;
  static_assert(kSiteBits + 2 * kGranuleBits + 2 == 32);

  // Of the word that counts the blocks that have ended (EndedBlocks), 0 when the launch begins; 0:
  // everything is logged.
  std::uint64_t address = 0;
  std::uint64_t blocks = 0;  // of what the first block keeps, in global memory
  // Bytes behind the program's dynamic shared memory, from own_begin on, that the block keeps its
  // header in and, if there are more than of a header, its states; both are in global memory if 0.
  std::uint32_t own_begin = 0, own_bytes = 0;
  std::uint32_t window = 0;  // bytes of shared memory, from offset 0, that have states
  std::uint32_t first_site : kSiteBits = 0;  // of the kernel
  // A state is of 1, 2 or 4 bytes: of the kernel's smallest access to shared memory. That of an
  // owner (word_owners.h) likewise, of its smallest access to memory that is not shared.
  std::uint32_t granule_log2 : kGranuleBits = kWordLog2;
  std::uint32_t owner_granule_log2 : kGranuleBits = kWordLog2;
  // Behind the states lies a word of each thread (copy_states.h).
  std::uint32_t keeps_copies : 1 = 0;
  std::uint32_t reserved : 1 = 0;

  static constexpr std::uint32_t kWordLog2 = 2;
};

static_assert(offsetof(SharedStates, address) == 0 && offsetof(SharedStates, blocks) == 8 &&
                  offsetof(SharedStates, own_begin) == 16 &&
                  offsetof(SharedStates, own_bytes) == 20 && offsetof(SharedStates, window) == 24 &&
                  sizeof(SharedStates) == 32,
              "each half is one load; first_site and the granules are its last word");

// The header of a block: kMostIntervals minus the interval in which threads left, 0 while none did;
// at kGatheredEvents and at kLoggedOfBlock what block_events.h keeps; at kEnding what the emulated
// device does; from kLeftMasks on, of each warp, its lanes that left then; from kToldBarriers on,
// of each warp, the highest number in which its barriers were logged (kCountsWarps).
inline constexpr std::uint32_t kGatheredEvents = 8, kLoggedOfBlock = 16, kEnding = 24,
                               kLeftMasks = 64, kToldBarriers = 192, kStatesHeader = 320;
static_assert(kLeftMasks + 1024 / kWarpLanes * 4 <= kToldBarriers &&
              kToldBarriers + 1024 / kWarpLanes * 4 <= kStatesHeader);

BARRACUDA_WIRE std::uint64_t state_offset(std::uint64_t shared_offset, std::uint32_t granule_log2) {
  return (shared_offset >> granule_log2) * sizeof(std::uint64_t);
}

// Of a header and states.
BARRACUDA_WIRE std::uint64_t block_bytes(std::uint32_t window, std::uint32_t granule_log2) {
  return kStatesHeader + state_offset(window, granule_log2);
}

// Of what blocks keep in global memory, one behind the other.
BARRACUDA_WIRE std::uint64_t block_offset(std::uint64_t block, std::uint32_t window,
                                          std::uint32_t granule_log2) {
  return block * block_bytes(window, granule_log2);
}

// Where the header of a block lies, and its states. `dynamic`: where its dynamic shared memory
// begins.
struct BlockPlaces {
  BlockPlace header, states;
};

BARRACUDA_WIRE BlockPlaces places_of(const SharedStates& states, std::uint64_t block,
                                     std::uint32_t dynamic) {
  const BlockPlace in_global =
      states.blocks + block_offset(block, states.window, states.granule_log2);
  const BlockPlace in_shared = std::uint64_t{dynamic} + states.own_begin;
  return {.header = states.own_bytes == 0 ? in_global : in_shared,
          .states = (states.own_bytes <= kStatesHeader ? in_global : in_shared) + kStatesHeader};
}

inline constexpr std::uint32_t kEndedBlocksBytes = 128;

BARRACUDA_WIRE StateUse state_use(std::uint32_t site) {
  const bool reads = (site & kPlainRead) != 0, writes = (site & kPlainWrite) != 0;
  if ((site & kAlwaysLogged) != 0) {
    return reads && writes ? StateUse::kWrite : StateUse::kLogged;
  }
  return !writes ? StateUse::kRead : !reads ? StateUse::kWrite : StateUse::kReduction;
}

// The same of one use that is kept, as quickly as can be.
template <StateUse kUse>
BARRACUDA_LOGGER bool has_use(std::uint32_t site) {
  const std::uint32_t bits = site & (kPlainRead | kPlainWrite | kAlwaysLogged);
  return kUse == StateUse::kRead        ? (bits & ~kPlainRead) == 0
         : kUse == StateUse::kReduction ? bits == (kPlainRead | kPlainWrite)
                                        : bits == kPlainWrite || bits == kStoresStrongly;
}

// Of a load or store with a state: kLoadsStrongly or kStoresStrongly.
BARRACUDA_WIRE bool is_strong(std::uint32_t site) {
  const std::uint32_t bits = site & (kPlainRead | kPlainWrite | kAlwaysLogged);
  return bits == kLoadsStrongly || bits == kStoresStrongly;
}

BARRACUDA_WIRE bool has_size(const SharedStates& states, std::uint32_t site) {
  const std::uint32_t size_log2 = site >> kSizeShift & ((1U << kSizeBits) - 1);
  return size_log2 - states.granule_log2 <= kMostGranulesLog2;  // huge if it is smaller
}

// Of `thread`, but for the value. Sizes that a state cannot hold are logged.
BARRACUDA_WIRE StateAccess state_access(const SharedStates& states, std::uint32_t site,
                                        std::uint32_t thread) {
  const std::uint32_t size_log2 = site >> kSizeShift & ((1U << kSizeBits) - 1);
  const bool is_held = has_size(states, site);
  return {.by = {.thread = thread,
                 .site = (site & (kMaxSites - 1)) - states.first_site,
                 .granules_log2 = is_held ? size_log2 - states.granule_log2 : 0},
          .use = is_held ? state_use(site) : StateUse::kLogged,
          .is_strong = is_strong(site),
          .is_replicated = (site & kKnownValues) != 0};
}

// Accesses are aligned to their sizes. `offset`: of one of its granules.
BARRACUDA_WIRE std::uint64_t begin_of(const SharedStates& states, const KeptAccess& kept,
                                      std::uint64_t offset) {
  const std::uint32_t size_log2 = states.granule_log2 + kept.granules_log2;
  return offset >> size_log2 << size_log2;
}

// What an access makes of a state.
struct StateStep {
  WordState next;
  bool logs = false;            // the access is logged
  std::uint32_t kept = 0;       // before it first() of the old state (1), second() (2)
  bool has_same_value = false;  // the first stored what this access stores
  bool is_pending = false;      // the first is a copy that its thread has not waited for,
  bool is_again = false;        // and now makes from the same place, in the same group
  std::uint32_t waited = 0;     // up to which group the thread of that copy has waited meanwhile
};

BARRACUDA_WIRE std::uint32_t kept_in(WordState state) {
  using Kind = WordState::Kind;
  switch (state.kind()) {
    case Kind::kReads:
    case Kind::kReadWrite:
    case Kind::kReadBehind:
      return 3;
    case Kind::kReductions:
      return state.first().thread == state.second().thread && !state.is_reduction_behind() ? 1 : 3;
    case Kind::kRead:
    case Kind::kWrite:
      return 1;
    case Kind::kEmpty:
    case Kind::kLogged:
      break;
  }
  return 0;
}

// Whether the access stores what was stored last, and nobody has read it since.
BARRACUDA_WIRE bool stores_the_same(WordState state, const StateAccess& access) {
  return state.kind() == WordState::Kind::kWrite && access.use == StateUse::kWrite &&
         access.value_mark != 0 && access.value_mark == state.mark() &&
         access.by.granules_log2 == state.first().granules_log2;
}

// The same store by another thread, of a value that their compiler gave to both: none of them
// harms the other (RACE_RULES, "Triton's compiler"). The first stands for all. What is missed is
// what its thread does to the word before the barrier, beside what another has stored again.
BARRACUDA_WIRE bool is_replica(WordState state, const StateAccess& access) {
  return access.is_replicated && stores_the_same(state, access) &&
         access.by.site == state.first().site;
}

BARRACUDA_WIRE StateStep log_from_now_on(WordState state, std::uint32_t interval,
                                         const StateAccess& access) {
  return {.next = WordState::of(interval, WordState::Kind::kLogged, {}),
          .logs = true,
          .kept = kept_in(state),
          .has_same_value = stores_the_same(state, access)};
}

// Of the accesses to a word by several threads two are kept: of different sites, if there are such.
// Whether the two of `state` stay, which are of different threads.
BARRACUDA_WIRE bool keeps_both(WordState state, const KeptAccess& by) {
  const KeptAccess first = state.first();
  return first.site != state.second().site || first.site == by.site || first.thread == by.thread;
}

// The same where barriers of warps are counted. What a warp does next is behind all that it has
// read: so two of different warps are kept if there are such.
BARRACUDA_WIRE bool keeps_both_counted(WordState state, const KeptAccess& by) {
  const std::uint32_t warp = state.first().thread / kWarpLanes;
  return state.second().thread / kWarpLanes != warp ||
         (by.thread / kWarpLanes == warp && keeps_both(state, by));
}

BARRACUDA_WIRE bool is_of_same_warp(const KeptAccess& one, const KeptAccess& other) {
  return one.thread / kWarpLanes == other.thread / kWarpLanes;
}

// A read of what its warp wrote before a barrier of it, as lanes of the warp have read it: a lane
// that broadcasts through shared memory writes, and all of them read. Two are kept, so that there
// is one beside whoever writes next.
BARRACUDA_WIRE StateStep read_beside(WordState state, std::uint32_t interval,
                                     const StateAccess& access) {
  const KeptAccess& by = access.by;
  const KeptAccess reader = state.second(), other = state.other_reader();
  if (other.thread != reader.thread) {
    return {.next = state};
  }
  if (reader.thread == by.thread) {
    return {.next = state.with(WordState::Kind::kReadBehind, by)};
  }
  if (reader.site == by.site && reader.granules_log2 == by.granules_log2) {
    return {.next = state.with_other_reader(by.thread % kWarpLanes)};
  }
  return log_from_now_on(state, interval, access);
}

// A read, by a thread that is not frozen. `state` is of this interval, or empty.
BARRACUDA_WIRE StateStep read_step(WordState state, std::uint32_t interval,
                                   const StateAccess& access, bool counts_warps) {
  using Kind = WordState::Kind;
  const KeptAccess& by = access.by;
  const Kind kind = state.kind();
  const bool is_first = state.first().thread == by.thread;
  if (kind == Kind::kEmpty || (kind == Kind::kRead && is_first)) {
    return {.next = WordState::of(interval, Kind::kRead, by)};
  }
  if (kind == Kind::kReads) {
    const bool stays = counts_warps ? keeps_both_counted(state, by) : keeps_both(state, by);
    return {.next = stays ? state : state.with(Kind::kReads, by)};
  }
  if (kind == Kind::kReadBehind && is_of_same_warp(state.first(), by)) {
    return read_beside(state, interval, access);
  }
  if (kind == Kind::kRead || (is_first && (kind == Kind::kWrite || kind == Kind::kReadWrite))) {
    return {.next = state.with(kind == Kind::kRead ? Kind::kReads : Kind::kReadWrite, by)};
  }
  return log_from_now_on(state, interval, access);
}

// A write, as above: kept of the only thread that has used the word.
BARRACUDA_WIRE StateStep write_step(WordState state, std::uint32_t interval,
                                    const StateAccess& access) {
  using Kind = WordState::Kind;
  const Kind kind = state.kind();
  const bool is_behind = kind == Kind::kReadBehind;
  const KeptAccess user = is_behind ? state.second() : state.first();
  const bool is_alone = !is_behind || state.other_reader().thread == user.thread;
  const bool is_own =
      kind == Kind::kEmpty ||
      (user.thread == access.by.thread && is_alone &&
       (kind == Kind::kRead || kind == Kind::kWrite || kind == Kind::kReadWrite || is_behind));
  if (!is_own) {
    return log_from_now_on(state, interval, access);
  }
  const bool has_read = kind == Kind::kRead || kind == Kind::kReadWrite || is_behind;
  if (has_read && access.value_mark != 0) {
    return {.next = WordState::of(interval, Kind::kReadWrite, access.by,
                                  kind == Kind::kRead ? state.first() : state.second())};
  }
  return {.next = WordState::of_write(interval, access.by, access.value_mark)};
}

// An atomic that orders nothing, as above. Two are kept, as of reads.
BARRACUDA_WIRE StateStep reduction_step(WordState state, std::uint32_t interval,
                                        const StateAccess& access, bool counts_warps) {
  using Kind = WordState::Kind;
  const KeptAccess& by = access.by;
  const KeptAccess first = state.first();
  if (state.kind() == Kind::kEmpty) {
    return {.next = WordState::of(interval, Kind::kReductions, by, by)};
  }
  if (state.kind() != Kind::kReductions || first.granules_log2 != by.granules_log2) {
    return log_from_now_on(state, interval, access);
  }
  const bool is_of_one = first.thread == state.second().thread;
  const bool stays = is_of_one      ? first.thread == by.thread
                     : counts_warps ? keeps_both_counted(state, by)
                                    : keeps_both(state, by);
  return {.next = stays ? state : state.with(Kind::kReductions, by)};
}

// As above: `state` is of this interval or empty, and as strong as the access.
template <StateUse kUse>
BARRACUDA_LOGGER StateStep step_alike(WordState state, std::uint32_t interval,
                                      const StateAccess& access, bool counts_warps) {
  switch (kUse) {
    case StateUse::kRead:
      return read_step(state, interval, access, counts_warps);
    case StateUse::kWrite:
      return write_step(state, interval, access);
    case StateUse::kReduction:
      return reduction_step(state, interval, access, counts_warps);
    case StateUse::kLogged:
    case StateUse::kCopy:
      break;
  }
  return log_from_now_on(state, interval, access);
}

// Another atomic of a warp all of whose atomics, which are kept, are before it or beside it.
BARRACUDA_WIRE WordState reduction_behind(WordState state, std::uint32_t interval,
                                          const KeptAccess& by) {
  return state.is_reduction_behind()
             ? WordState::of_reduction_behind(interval, state.first(), by)
             : WordState::of(interval, WordState::Kind::kReductions, by, by);
}

// Of atomics of the access's own warp before its last barrier.
template <StateUse kUse>
BARRACUDA_LOGGER StateStep step_behind_reductions(WordState state, std::uint32_t interval,
                                                  const StateAccess& access) {
  const KeptAccess& by = access.by;
  if (kUse == StateUse::kWrite) {
    return {.next = WordState::of_write(interval, by, 0)};
  }
  if (kUse == StateUse::kRead) {
    return {.next = WordState::of(interval, WordState::Kind::kReadBehind, state.second(), by)};
  }
  if (kUse == StateUse::kReduction && state.second().granules_log2 == by.granules_log2) {
    return {.next = reduction_behind(state, interval, by)};
  }
  return log_from_now_on(state, interval, access);
}

// Of what was kept before the last barrier of the warp, in the same interval of the block. What the
// warp itself did is before the access; all others of the block are as they were. So a write stands
// for all that its warp did, a read for reads, and an atomic for atomics; but beside an atomic one
// that was no atomic stays, with which another warp's atomic conflicts.
template <StateUse kUse>
BARRACUDA_LOGGER StateStep step_behind(WordState state, std::uint32_t interval,
                                       const StateAccess& access) {
  using Kind = WordState::Kind;
  const Kind kind = state.kind();
  const std::uint32_t warp = access.by.thread / kWarpLanes;
  const bool has_second = kept_in(state) == 3;
  const bool is_of_warp = state.first().thread / kWarpLanes == warp &&
                          (!has_second || state.second().thread / kWarpLanes == warp);
  const bool reads = kind == Kind::kRead || kind == Kind::kReads;
  const bool writes = kind == Kind::kWrite || kind == Kind::kReadWrite || kind == Kind::kReadBehind;
  if (is_of_warp && kUse == StateUse::kWrite && (reads || writes)) {
    return {.next = WordState::of_write(interval, access.by,
                                        kind == Kind::kWrite ? access.value_mark : 0)};
  }
  if (is_of_warp && kUse == StateUse::kRead && reads) {
    return {.next = WordState::of(interval, Kind::kRead, access.by)};
  }
  if (is_of_warp && kUse == StateUse::kRead && writes) {
    return {.next = WordState::of(interval, Kind::kReadBehind, state.first(), access.by)};
  }
  if (is_of_warp && kind == Kind::kReductions) {
    return step_behind_reductions<kUse>(state, interval, access);
  }
  if (is_of_warp && kUse == StateUse::kReduction && (reads || writes)) {
    return {.next = WordState::of_reduction_behind(interval, state.first(), access.by)};
  }
  return log_from_now_on(state, interval, access);
}

// Of what is_reduction_behind(), in the interval of its newest atomic: more atomics of the warp
// join. Whatever else comes conflicts with the atomics, or with what was before them.
template <StateUse kUse>
BARRACUDA_LOGGER StateStep step_beside(WordState state, std::uint32_t interval,
                                       const StateAccess& access) {
  const KeptAccess& by = access.by;
  const bool joins = kUse == StateUse::kReduction &&
                     state.second().thread / kWarpLanes == by.thread / kWarpLanes &&
                     state.second().granules_log2 == by.granules_log2;
  return joins ? StateStep{.next = reduction_behind(state, interval, by)}
               : log_from_now_on(state, interval, access);
}

// Whether nothing of a state is of a thread's interval, which is not frozen.
BARRACUDA_WIRE bool is_over(WordState met, std::uint32_t interval) {
  return met.bits() == 0 ||
         ((met.interval() ^ interval) & kMostIntervals & ~warp_bits(interval)) != 0;
}

// By a thread that is not frozen, of an access that is used so.
template <StateUse kUse>
BARRACUDA_LOGGER StateStep step_by(WordState met, std::uint32_t interval,
                                   const StateAccess& access) {
  const std::uint32_t number = interval & kMostIntervals;
  const WordState state(is_over(met, interval) ? 0 : met.bits());
  const bool is_empty = state.kind() == WordState::Kind::kEmpty;
  const bool is_strong = state.is_strong() && !state.is_reduction_behind();
  const bool is_as_strong = is_empty || is_strong == access.is_strong;
  if (is_last_counted(interval) || !is_as_strong) {
    return log_from_now_on(state, number, access);
  }
  if (kUse == StateUse::kWrite && is_replica(state, access)) {
    return {.next = state};
  }
  StateStep step = !is_empty && state.interval() != number
                       ? step_behind<kUse>(state, number, access)
                   : state.is_reduction_behind()
                       ? step_beside<kUse>(state, number, access)
                       : step_alike<kUse>(state, number, access, warp_bits(interval) != 0);
  if (step.next.kind() != WordState::Kind::kReductions) {
    step.next = step.next.with_strength(access.is_strong && !step.logs);
  }
  return step;
}

// What an access makes of a word that is_over(), or that is this already: nearly all meet such a
// word, and step_by() would say the same. The thread is not frozen, and not is_last_counted().
template <StateUse kUse>
BARRACUDA_LOGGER WordState state_alone(std::uint32_t interval, const StateAccess& access) {
  using Kind = WordState::Kind;
  const std::uint32_t number = interval & kMostIntervals;
  const KeptAccess& by = access.by;
  const WordState alone =
      kUse == StateUse::kWrite  ? WordState::of_write(number, by, access.value_mark)
      : kUse == StateUse::kRead ? WordState::of(number, Kind::kRead, by)
                                : WordState::of(number, Kind::kReductions, by, by);
  return kUse == StateUse::kReduction ? alone : alone.with_strength(access.is_strong);
}

// Of one of the two that a state kept, the number of the interval in which it was made, as records
// have it. `bits`: warp_bits() of who met the state.
BARRACUDA_WIRE std::uint32_t number_of_kept(WordState state, std::uint32_t which,
                                            std::uint32_t bits) {
  const bool is_before =
      which == 0 && (state.kind() == WordState::Kind::kReadBehind || state.is_reduction_behind());
  return bits == 0 ? 0 : told_number(state.interval() & ~(is_before ? bits : 0), bits);
}

BARRACUDA_WIRE StateStep step(WordState met, std::uint32_t interval, const StateAccess& access) {
  switch (access.use) {
    case StateUse::kRead:
      return step_by<StateUse::kRead>(met, interval, access);
    case StateUse::kWrite:
      return step_by<StateUse::kWrite>(met, interval, access);
    case StateUse::kReduction:
      return step_by<StateUse::kReduction>(met, interval, access);
    case StateUse::kLogged:
    case StateUse::kCopy:
      break;
  }
  return step_by<StateUse::kLogged>(met, interval, access);
}

// By a frozen one, whose accesses are all logged: those of a thread that left have to be before it.
template <class HasLeft>
BARRACUDA_LOGGER StateStep frozen_step(WordState state, std::uint32_t frozen,
                                       const StateAccess& access, const HasLeft& has_left) {
  const std::uint32_t left_in = frozen & kMostIntervals;
  StateStep step = log_from_now_on(state, left_in, access);
  step.kept &=
      (has_left(state.first().thread) ? 1U : 0U) | (has_left(state.second().thread) ? 2U : 0U);
  if (step.kept == 0 || state.interval() != left_in) {
    step.kept = 0;
    step.next = state;
  }
  return step;
}

// By any thread: its interval says whether it is frozen.
template <class HasLeft>
BARRACUDA_LOGGER StateStep any_step(WordState state, std::uint32_t interval,
                                    const StateAccess& access, const HasLeft& has_left) {
  return (interval & kFrozen) == 0 ? step(state, interval, access)
                                   : frozen_step(state, interval, access, has_left);
}

}  // namespace barracuda::wire

// What of an asynchronous copy (cp.async) is kept in the states of the words that it writes
// (shared_states.h). The copy takes place at some time between its instruction and its thread's
// wait for the group that it is of (cp.async.wait_group), whatever barriers lie between: so its
// state stays beyond its interval, and says the group; and each thread notes up to which group it
// has waited, and when. From these two everyone sees whether a copy may still be under way, is over
// in this interval, or was over before it.
//
// Who conflicts with a copy that is not over before logs it, and itself, once in each interval. So
// the detector need not be told when a copy is over: what it knows of one, it forgets at the next
// barrier of the block (AccessCheck::check_kept_copy). Commits and waits are not logged.
// docs/decisions/device-filter.md has the proof. One source for the GPU and for the host.
#pragma once

#include <cstdint>

#include "device_logger/shared_states.h"

namespace barracuda::wire {

enum class CopyStatus : std::uint8_t {
  kPending,  // its thread has not waited for it
  kOver,     // it has, in this interval: no other thread knows
  kSettled,  // it has, before a barrier that everyone has passed since
};

// Of the groups of one thread: in a word of its own behind the states of its block, 0 at first. It
// looks like the state of a copy, so that WordState::without_interval() is right for it as well.
class CopyProgress {
 public:
  BARRACUDA_WIRE explicit CopyProgress(std::uint64_t bits) : bits_(bits) {}

  [[nodiscard]] BARRACUDA_WIRE std::uint64_t bits() const { return bits_; }

  // The thread has waited for all its groups below `over`.
  [[nodiscard]] BARRACUDA_WIRE CopyProgress after_wait(std::uint32_t over,
                                                       std::uint32_t number) const {
    if (over <= this->over()) {
      return *this;
    }
    const std::uint64_t settled = interval() == number ? over_before() : this->over();
    return CopyProgress(number | std::uint64_t{over} << kOverShift | settled << kBeforeShift |
                        std::uint64_t{1} << WordState::kStrongShift);
  }

  // To a thread in the interval `number`.
  [[nodiscard]] BARRACUDA_WIRE CopyStatus status(std::uint32_t group, std::uint32_t number) const {
    const std::uint32_t settled = interval() == number ? over_before() : over();
    return group < settled  ? CopyStatus::kSettled
           : group < over() ? CopyStatus::kOver
                            : CopyStatus::kPending;
  }

  // Up to which group the thread has waited in that interval; 0 if it has not.
  [[nodiscard]] BARRACUDA_WIRE std::uint32_t waited_in(std::uint32_t number) const {
    return interval() == number ? over() : 0;
  }

 private:
  static constexpr int kOverShift = WordState::kFirstShift, kBeforeShift = WordState::kSecondShift;
  static_assert(kOverShift + kGroupBits <= kBeforeShift &&
                kBeforeShift + kGroupBits < WordState::kStrongShift);

  [[nodiscard]] BARRACUDA_WIRE std::uint32_t interval() const {
    return static_cast<std::uint32_t>(bits_) & kMostIntervals;
  }

  [[nodiscard]] BARRACUDA_WIRE std::uint32_t over() const {
    return static_cast<std::uint32_t>(bits_ >> kOverShift) & kMostGroups;
  }

  [[nodiscard]] BARRACUDA_WIRE std::uint32_t over_before() const {
    return static_cast<std::uint32_t>(bits_ >> kBeforeShift) & kMostGroups;
  }

  std::uint64_t bits_ = 0;
};

// A thread's register that counts the groups which it has committed; above them, that it logs its
// commits and waits, for it has logged a copy's read as it was made.
inline constexpr std::uint32_t kLogsGroups = 1U << 31;

// What the register says behind a commit, and behind a wait that commits what is left.
BARRACUDA_WIRE std::uint32_t after_commit(std::uint32_t groups) {
  return (groups & kMostGroups) < kMostGroups ? groups + 1 : groups;
}

// How many groups are over where at most `left` are pending.
BARRACUDA_WIRE std::uint32_t groups_over(std::uint32_t groups, std::uint32_t left) {
  const std::uint32_t committed = groups & kMostGroups;
  return committed > left ? committed - left : 0;
}

// Where the word of a thread lies; the states of its block end at `end`.
BARRACUDA_WIRE std::uint64_t progress_offset(std::uint64_t end, std::uint32_t threads,
                                             std::uint32_t thread) {
  return end - (std::uint64_t{threads} - thread) * sizeof(std::uint64_t);
}

// What a state is to a thread that meets it. `progress_of(thread)`: the CopyProgress of one.
template <class ProgressOf>
BARRACUDA_LOGGER WordState settled(WordState met, std::uint32_t interval, std::uint32_t thread,
                                   const ProgressOf& progress_of) {
  if (!met.is_copy()) {
    return met;
  }
  const std::uint32_t number = interval & kMostIntervals;
  const CopyStatus status = progress_of(met.first().thread).status(met.group(), number);
  if (status == CopyStatus::kSettled) {
    return WordState(0);
  }
  const bool is_own = met.first().thread == thread && !met.is_logged_in(number);
  return status == CopyStatus::kOver && is_own ? WordState::of_write(number, met.first(), 0) : met;
}

// What an access makes of a word that a copy may be writing, or has written since the last barrier.
// Both are logged, and so is all that comes to the word in this interval. The copy need not be
// logged again in it, but for its own thread, which may have waited for it since.
template <class ProgressOf>
BARRACUDA_LOGGER StateStep step_at_copy(WordState met, std::uint32_t number,
                                        const StateAccess& access, const ProgressOf& progress_of) {
  const bool is_copy = access.use == StateUse::kCopy;
  const bool is_told = met.is_logged_in(number) && met.first().thread != access.by.thread;
  const CopyProgress progress = progress_of(met.first().thread);
  return {.next = WordState::of_copy(number, is_copy ? access.by : met.first(),
                                     is_copy ? access.group : met.group(), true),
          .logs = true,
          .kept = is_told ? 0U : 1U,
          .is_pending = progress.status(met.group(), number) == CopyStatus::kPending,
          .is_again = is_copy && met.group() == access.group &&
                      met.first().thread == access.by.thread && met.first().site == access.by.site,
          .waited = progress.waited_in(number)};
}

// A copy, of a word that no other may be writing. What its own thread did to it before is ordered
// before it, and conflicts with nothing that the copy does not conflict with.
BARRACUDA_WIRE StateStep copy_step(WordState met, std::uint32_t number, const StateAccess& access) {
  using Kind = WordState::Kind;
  const WordState state(is_over(met, number) ? 0 : met.bits());
  const Kind kind = state.kind();
  const bool is_own = kind == Kind::kEmpty ||
                      (state.first().thread == access.by.thread &&
                       (kind == Kind::kRead || kind == Kind::kWrite || kind == Kind::kReadWrite));
  return {.next = WordState::of_copy(number, access.by, access.group, !is_own),
          .logs = !is_own,
          .kept = is_own ? 0 : kept_in(state)};
}

// By any thread, of any state. Nobody is frozen where there are copies.
template <class HasLeft, class ProgressOf>
BARRACUDA_LOGGER StateStep step_of_any(WordState met, std::uint32_t interval,
                                       const StateAccess& access, const HasLeft& has_left,
                                       const ProgressOf& progress_of) {
  const WordState state = settled(met, interval, access.by.thread, progress_of);
  const std::uint32_t number = interval & kMostIntervals;
  if (state.is_copy()) {
    return step_at_copy(state, number, access, progress_of);
  }
  return access.use == StateUse::kCopy ? copy_step(state, number, access)
                                       : any_step(state, interval, access, has_left);
}

// What the record of a copy says in place of an interval's number: whether its thread has waited
// for it or not.
inline constexpr std::uint32_t kCopyOver = 0, kCopyPending = 1;
// In a kWarpBarriers: no barriers, but the number of the group up to which the lane has waited in
// this interval. Before whatever else of it is logged, for its copies may have been logged while
// they were under way.
inline constexpr std::uint32_t kHasWaited = 1U << 31;

// And in place of a value. 0: of a copy that is over, and nobody knows its group any more.
struct CopyRecord {
  std::uint32_t group = 0;   // its number, from 1 on; kAgain: of another than the one that its
                             // thread makes now
  std::uint32_t waited = 0;  // up to which group the thread has waited in this interval

  static constexpr std::uint32_t kAgain = 1U << (kGroupBits + 1);

  BARRACUDA_WIRE static CopyRecord of_kept(WordState state, const StateStep& step) {
    const std::uint32_t number = (state.group() + 1) | (step.is_again ? kAgain : 0);
    return {.group = state.is_copy() ? number : 0, .waited = state.is_copy() ? step.waited : 0};
  }

  BARRACUDA_WIRE static CopyRecord unpacked(std::uint64_t value) {
    return {.group = static_cast<std::uint32_t>(value),
            .waited = static_cast<std::uint32_t>(value >> 32)};
  }

  [[nodiscard]] BARRACUDA_WIRE std::uint64_t packed() const {
    return group | std::uint64_t{waited} << 32;
  }
};

}  // namespace barracuda::wire

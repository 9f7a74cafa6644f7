// One CTA barrier: who has arrived, what they give, and when it opens (RACE_RULES section 1,
// barriers).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "host_detector/clock/warp_state.h"

namespace barracuda::detector {

// What the arrivers of a barrier give: their C, F and A, joined. Also serves warp barriers.
class Gathering {
 public:
  // What all lanes that are named `took` were given at once some time ago.
  struct Before {
    const ThreadState* state = nullptr;  // null: nothing
    std::uint32_t took = 0;
  };

  // Lanes of `warp` give what they know now. A thread still knows what it was given, so what one
  // thread has learnt since of a whole grid is not compared with what the others knew before.
  void add(const WarpState& warp, std::uint32_t lanes, const Before& before);

  void add(const WarpState& warp, std::uint32_t lanes) { add(warp, lanes, Before{}); }

  // The joined state. The gathering is empty again.
  [[nodiscard]] ThreadState take();

 private:
  void add_fences(const WarpState& warp, std::uint32_t lanes, const ThreadState& state,
                  const Before& before);
  void keep_apart_what_differs(const FenceState& fences);

  Clock clock_;
  CtaKey cta_{};
  std::vector<WarpTime> times_;  // own times of the arrivers
  FenceState fences_;
  std::array<std::vector<WarpTime>, kLevelCount> fence_times_;
  // A level of which every arriver has what it has of the level below is gathered there alone, and
  // shares the result: most fences are for the device.
  std::array<bool, kLevelCount> is_as_below_{false, true, true};
  FenceStatePointer shared_;  // F and A of every arriver so far, while they are one and the same
  bool is_shared_ = true;     // … shared_ holds
  bool is_first_ = true;
  // Of the state before, what is joined already has the clock; and its F and A; and its clock as F
  // of a level.
  bool has_clock_ = false, has_fences_ = false;
  std::array<bool, kLevelCount> has_released_{};
};

class Barrier {
 public:
  struct Arrival {
    std::uint32_t lanes = 0;    // arrived, waiting or not
    std::uint32_t waiting = 0;  // will take
    std::uint32_t site = 0;     // where the first of them arrived
    std::uint32_t took = 0;     // what the last opening gave
    bool is_full = false;       // every live lane has arrived
  };

  explicit Barrier(std::size_t warps) : arrivals_(warps) {}

  // `threads` as in the instruction; 0 means all of the CTA. Who has arrived already arrives for
  // the next phase: its record may come before those of threads that wait in this one, as each
  // comes before what it is of. (Who is meant to arrive twice in one phase gives half.)
  void arrive(WarpState& warp, std::uint32_t lanes, std::uint32_t threads, std::uint32_t site);
  void arrive_and_wait(WarpState& warp, std::uint32_t lanes, std::uint32_t threads,
                       std::uint32_t site);
  // Lanes of `warp` have left the kernel.
  void on_exit(const WarpState& warp);
  [[nodiscard]] bool is_complete(std::uint64_t live_threads) const;

  // Whoever has done anything waits.
  [[nodiscard]] bool has_everybody(std::span<const WarpState> warps) const;

  // Gives everything to the waiters and starts the next phase.
  void open(std::span<WarpState> warps);

  [[nodiscard]] std::span<const Arrival> arrivals() const { return arrivals_; }

 private:
  // An arrival for the next phase.
  struct Early {
    std::uint32_t warp = 0, lanes = 0, threads = 0, site = 0;
  };

  void note(const WarpState& warp, std::uint32_t lanes, std::uint32_t threads, std::uint32_t site);

  std::vector<Arrival> arrivals_;  // by warp
  Gathering given_;                // by those that do not wait
  std::vector<Early> early_;
  Gathering given_early_;  // by these
  ThreadState last_;       // what the last opening gave
  std::uint64_t waiting_ = 0;
  std::uint32_t threads_ = 0;
  std::uint32_t full_warps_ = 0;  // arrivals that are full
};

}  // namespace barracuda::detector

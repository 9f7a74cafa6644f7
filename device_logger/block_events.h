// One record for what each warp of a block does in turn: a barrier of the whole block, and its end.
// Kernels that keep states (shared_states.h) do little else that is logged. Each warp adds itself
// to a word in its block's memory, and the last one logs for all: a barrier cannot complete before
// that, and after it nobody has arrived at the next one. What a warp does before its arrival has
// its records before the one of the block, and what it does after it behind them. A barrier with
// nothing of its block logged since the one before orders nothing: it needs no record.
//
// Whatever is not so, as a warp that arrives in parts or leaves while others wait, ends that for
// the block: who finds it logs the events that were kept, each as its warp would have done, then
// its own, and from then on every warp logs by itself. Nobody whose event was kept can go on
// meanwhile: it waits for a barrier that needs who finds that, or it has left.
//
// Where the text of the kernel shows that all threads come to every barrier together (kCounted of
// site_word.h), nothing is ever so. There all meet once more before each barrier, and one of them
// logs it if it has to be. The word counts the threads that leave. The end of a block of which
// nothing was ever logged is counted; the last block of the launch logs for all of these.
//
// The miss: if the kernel never ends, arrivals at a barrier that does not complete stay unlogged.
#pragma once

#include <cstdint>

#include "device_logger/address_pattern.h"
#include "device_logger/record.h"

namespace barracuda::wire {

// An event of a warp as its record has it.
struct WarpEvent {
  std::uint32_t site = 0;    // its number or its word (site_word.h)
  std::uint32_t detail = 0;  // of those that are gathered 0 or 1
};

struct GatherStep;

// The word of a block, 0 at first: the warps that are there, and where.
class GatheredEvents {
 public:
  BARRACUDA_WIRE explicit GatheredEvents(std::uint64_t bits) : bits_(bits) {}

  [[nodiscard]] BARRACUDA_WIRE std::uint64_t bits() const { return bits_; }

  [[nodiscard]] BARRACUDA_WIRE std::uint32_t warps() const {
    return static_cast<std::uint32_t>(bits_);
  }

  [[nodiscard]] BARRACUDA_WIRE WarpEvent event() const {
    return {.site = static_cast<std::uint32_t>(bits_ >> kSiteShift) & (kMaxSites - 1),
            .detail = static_cast<std::uint32_t>(bits_ >> kDetailShift) & 1};
  }

  [[nodiscard]] BARRACUDA_WIRE bool is_over() const { return (bits_ >> kOverShift & 1) != 0; }

  // The event of the lowest of the warps that are kept is logged: so are all others from now on,
  // even if the warp that was in the way has met its lanes before it finds room for its own.
  [[nodiscard]] BARRACUDA_WIRE GatheredEvents without_first() const {
    return GatheredEvents((bits_ & ~std::uint64_t{warps() & (0 - warps())}) | std::uint64_t{1}
                                                                                  << kOverShift);
  }

  // `event` of one of a block's `block_warps` warps. `is_whole`: of all its threads.
  [[nodiscard]] BARRACUDA_WIRE GatherStep add(const WarpEvent& event, std::uint32_t warp,
                                              std::uint32_t block_warps, bool is_whole) const;

 private:
  static constexpr int kSiteShift = 32, kDetailShift = kSiteShift + kSiteBits,
                       kOverShift = kDetailShift + 1;
  static_assert(1024 / kWarpLanes <= kSiteShift && kOverShift < 64);

  std::uint64_t bits_;
};

struct GatherStep {
  enum class Outcome : std::uint32_t {
    kKept,
    kOfBlock,  // it is logged for the whole block
    kSingly,   // the events of the old word's warps are logged, then it
  };

  GatheredEvents next;
  Outcome outcome;
};

BARRACUDA_WIRE GatherStep GatheredEvents::add(const WarpEvent& event, std::uint32_t warp,
                                              std::uint32_t block_warps, bool is_whole) const {
  const WarpEvent mine{.site = event.site & (kMaxSites - 1), .detail = event.detail};
  const WarpEvent kept = this->event();
  const bool is_same = warps() == 0 || (kept.site == mine.site && kept.detail == mine.detail);
  const std::uint32_t there = warps() | 1U << warp;
  const std::uint32_t all = block_warps == kWarpLanes ? ~0U : (1U << block_warps) - 1;
  std::uint64_t next =
      there | std::uint64_t{mine.site} << kSiteShift | std::uint64_t{mine.detail} << kDetailShift;
  GatherStep::Outcome outcome = GatherStep::Outcome::kKept;
  if (is_over() || !is_whole || !is_same || mine.detail > 1 || there == warps()) {
    next = std::uint64_t{1} << kOverShift;
    outcome = GatherStep::Outcome::kSingly;
  } else if (there == all) {
    next = 0;
    outcome = GatherStep::Outcome::kOfBlock;
  }
  return {.next = GatheredEvents(next), .outcome = outcome};
}

// What has been logged of a block: by whoever claims slots of a queue, but for what is counted.
inline constexpr std::uint32_t kLoggedSinceBarrier = 1, kLoggedEver = 2;

// The blocks of a launch that have ended, and those of them of which nothing was logged: a word, 0
// at first.
struct EndedBlocks {
  std::uint64_t bits = 0;

  // To be added to the word when a block ends. `logged`: what has been logged of it.
  [[nodiscard]] BARRACUDA_WIRE static std::uint64_t step(std::uint32_t logged) {
    return 1 | std::uint64_t{(logged & kLoggedEver) == 0} << 32;
  }

  [[nodiscard]] BARRACUDA_WIRE std::uint32_t count() const {
    return static_cast<std::uint32_t>(bits);
  }

  [[nodiscard]] BARRACUDA_WIRE std::uint32_t untouched() const {
    return static_cast<std::uint32_t>(bits >> 32);
  }
};

// How the end of a block is logged, by the word before its step.
struct BlockEnd {
  bool is_last = false;
  bool is_logged = false;
  std::uint32_t others = 0;  // that have ended, and of which nothing was logged
};

BARRACUDA_WIRE BlockEnd end_of_block(EndedBlocks before, std::uint32_t logged,
                                     std::uint64_t blocks) {
  const bool is_last = std::uint64_t{before.count()} + 1 == blocks;
  return {.is_last = is_last,
          .is_logged = is_last || (logged & kLoggedEver) != 0,
          .others = is_last ? before.untouched() : 0};
}

// The threads of a warp of a block of `threads`.
BARRACUDA_WIRE std::uint32_t lanes_of_warp(std::uint32_t warp, std::uint32_t threads) {
  const std::uint32_t rest = threads - warp * kWarpLanes;
  return rest >= kWarpLanes ? ~0U : (1U << rest) - 1;
}

}  // namespace barracuda::wire

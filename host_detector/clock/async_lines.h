// The asynchronous copies of one warp. Each lane has a line of its own for every way to wait: in
// the clock of its CTA, a lane of a pseudo warp above the 32 real ones. A copy is stamped with its
// line's tick, and known only to who knows that tick.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/assert.h"
#include "host_detector/clock/cta_clock.h"
#include "host_detector/clock/lanes.h"

namespace barracuda::detector {

enum class Line : std::uint8_t { kThreadGroup, kBulkWrites, kBulkReads };
inline constexpr std::size_t kLineCount = 3;

// The pseudo warp of a line of the lanes of `warp`.
constexpr std::uint32_t line_warp(Line line, std::uint32_t warp) {
  return wire::kWarpLanes * (1 + static_cast<std::uint32_t>(line)) + warp;
}

static_assert(line_warp(Line{}, 0) == wire::kWarpLanes, "pseudo warps begin above the real ones");
static_assert(line_warp(Line::kBulkReads, wire::kWarpLanes - 1) + 1 ==
                  line_warp(Line{kLineCount}, 0),
              "each line has a pseudo warp for each warp, and no other has it");

// An mbarrier is a line as well: its tick is its phase.
inline constexpr std::uint32_t kMaxMbarriers = 4096;  // of a CTA

constexpr std::uint32_t mbarrier_warp(std::uint32_t mbarrier) {
  return line_warp(Line{kLineCount}, mbarrier / wire::kWarpLanes);
}

constexpr std::uint32_t mbarrier_lane(std::uint32_t mbarrier) {
  return mbarrier % wire::kWarpLanes;
}

static_assert(mbarrier_warp(0) > line_warp(Line::kBulkReads, wire::kWarpLanes - 1),
              "those of mbarriers are above those of copies");
static_assert(mbarrier_warp(kMaxMbarriers - 1) < 1U << 24, "PackedLine has 24 bits for them");

// The groups that a lane commits: those of cp.async, or those of bulk copies.
class CopyGroups {
 public:
  // The stamp of a copy made now.
  [[nodiscard]] Tick now() const { return now_; }

  // What was copied so far is told apart from what comes, within its group.
  void divide() { ++now_; }

  void commit() {
    if (ends_.size() >= kMostPending) {
      ends_.erase(ends_.begin());
    }
    ends_.push_back(now_++);
    DEBUG_ASSERT(is_valid());
  }

  // The last tick that is over where at most `left` groups are pending; 0 for none.
  [[nodiscard]] Tick over(std::uint32_t left) const {
    return ends_.size() > left ? ends_[ends_.size() - 1 - left] : 0;
  }

  [[nodiscard]] bool is_valid() const {
    return ends_.size() <= kMostPending && std::ranges::is_sorted(ends_, std::less_equal<>()) &&
           (ends_.empty() || ends_.back() < now_);
  }

 private:
  static constexpr std::size_t kMostPending = 1024;

  Tick now_ = 1;
  std::vector<Tick> ends_;  // of committed groups, the newest last
};

class AsyncLines {
 public:
  [[nodiscard]] CopyGroups& groups(Line line, std::uint32_t lane) {
    DEBUG_ASSERT(lane < wire::kWarpLanes);
    return groups_[line == Line::kThreadGroup ? 0 : 1][lane];
  }

  // Up to where the lane waited for its own line, which its clock does not say before it tells
  // others.
  [[nodiscard]] Tick waited(Line line, std::uint32_t lane) const {
    return waited_[static_cast<std::size_t>(line)][lane];
  }

  void wait(Line line, std::uint32_t lane, Tick tick) {
    DEBUG_ASSERT(static_cast<std::size_t>(line) < kLineCount && lane < wire::kWarpLanes);
    Tick& waited = waited_[static_cast<std::size_t>(line)][lane];
    waited = std::max(waited, tick);
  }

  // Calls visit(line, lanes, tick) for lanes of `lanes` that waited up to the same tick.
  template <typename Visit>
  void for_each_waited(std::uint32_t lanes, Visit visit) const {
    for (std::size_t line = 0; line < kLineCount; ++line) {
      std::uint32_t rest = lanes;
      while (rest != 0) {
        const Tick tick = waited_[line][first_lane(rest)];
        const std::uint32_t same =
            lanes_where(rest, [&](std::uint32_t lane) { return waited_[line][lane] == tick; });
        if (tick != 0) {
          visit(static_cast<Line>(line), same, tick);
        }
        rest &= ~same;
      }
    }
  }

 private:
  template <typename T>
  using OfLanes = std::array<T, wire::kWarpLanes>;

  std::array<OfLanes<CopyGroups>, 2> groups_;
  std::array<OfLanes<Tick>, kLineCount> waited_{};
};

}  // namespace barracuda::detector

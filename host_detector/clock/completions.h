// What the asynchronous copies of one warp are waited for by: PTX's completion mechanisms. Each
// lane has its own of every kind, which is a thread of its own in the clock of the CTA: a lane of a
// slot above those of the 32 warps. A copy is stamped with its completion's time, and known only
// to who knows that time.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "base/assert.h"
#include "device_logger/copy_states.h"
#include "host_detector/clock/cta_clock.h"
#include "host_detector/lanes.h"

namespace barracuda::detector {

// kMatrixReads is of a warp as one: lane 0 stands for it. kTensorReads, of tcgen05, is of a lane,
// whose commit arrives at an mbarrier. Nothing waits for kUnwaited. kKept is of
// copies that the device logs when something conflicts with them (device_logger/copy_states.h).
enum class Completion : std::uint8_t {
  kThreadGroup,
  kBulkWrites,
  kBulkReads,
  kMatrixReads,
  kUnwaited,
  kTensorReads,
  kKept,
};
inline constexpr std::size_t kCompletionCount = 7;

// That of the lanes of `warp` for this completion.
constexpr WarpSlot completion_slot(Completion completion, std::uint32_t warp) {
  return WarpSlot{wire::kWarpLanes * (1 + static_cast<std::uint32_t>(completion)) + warp};
}

// Of which completion a slot is; nothing for those of warps, mbarriers and views.
constexpr std::optional<Completion> completion_of(WarpSlot slot) {
  const std::uint32_t row = index_of(slot) / wire::kWarpLanes;
  return row == 0 || row > kCompletionCount ? std::nullopt
                                            : std::optional(static_cast<Completion>(row - 1));
}

static_assert(index_of(completion_slot(Completion{}, 0)) == wire::kWarpLanes,
              "slots of completions begin above those of warps");
static_assert(index_of(completion_slot(Completion::kKept, wire::kWarpLanes - 1)) + 1 ==
                  index_of(completion_slot(Completion{kCompletionCount}, 0)),
              "each completion has a slot for each warp, and no other has it");
static_assert(completion_of(completion_slot(Completion::kKept, wire::kWarpLanes - 1)) ==
                  Completion::kKept &&
              !completion_of(warp_slot(wire::kWarpLanes - 1)));

// An mbarrier is a completion as well: its time is its phase.
inline constexpr std::uint32_t kMaxMbarriers = 4096;  // of a CTA

constexpr WarpSlot mbarrier_slot(std::uint32_t mbarrier) {
  return completion_slot(Completion{kCompletionCount}, mbarrier / wire::kWarpLanes);
}

constexpr std::uint32_t mbarrier_lane(std::uint32_t mbarrier) {
  return mbarrier % wire::kWarpLanes;
}

static_assert(mbarrier_slot(0) > completion_slot(Completion::kKept, wire::kWarpLanes - 1) &&
                  !completion_of(mbarrier_slot(0)),
              "those of mbarriers are above those of copies");
static_assert(index_of(mbarrier_slot(kMaxMbarriers - 1)) < 1U << 24,
              "PackedCompletion has 24 bits for them");

// What of a CTA was handed to the tensor-map proxy (RACE_RULES section 1) stands in clocks beside
// what was fenced for the async proxy, in slots above all others: what a fence released
// there, and what of that another one acquired.
enum class MapView : std::uint8_t { kReleased, kAcquired };

// That of what lies in `slot`.
constexpr WarpSlot view_slot(MapView view, WarpSlot slot) {
  const std::uint32_t apart = index_of(mbarrier_slot(kMaxMbarriers - 1)) + 1;
  return WarpSlot{apart * (1 + static_cast<std::uint32_t>(view)) + index_of(slot)};
}

// The groups that a lane commits: those of cp.async, or those of bulk copies.
class CopyGroups {
 public:
  // The stamp of a copy made now.
  [[nodiscard]] Time now() const { return now_; }

  // Copies from now on have a later time than those so far, within the same group.
  void divide() { ++now_; }

  void commit() {
    if (ends_.size() >= kMostPending) {
      ends_.erase(ends_.begin());
    }
    ends_.push_back(now_++);
    DEBUG_ASSERT(is_valid());
  }

  // The last time that is over where at most `left` groups are pending; 0 for none.
  [[nodiscard]] Time over(std::uint32_t left) const {
    return ends_.size() > left ? ends_[ends_.size() - 1 - left] : 0;
  }

  [[nodiscard]] bool is_valid() const {
    return ends_.size() <= kMostPending && std::ranges::is_sorted(ends_, std::less_equal<>()) &&
           (ends_.empty() || ends_.back() < now_);
  }

 private:
  static constexpr std::size_t kMostPending = 1024;

  Time now_ = 1;
  std::vector<Time> ends_;  // of committed groups, the newest last
};

// Stamps of a lane's copies that the device has kept (wire::CopyRecord). Each barrier interval
// of the block has stamps of its own, in the order of the groups: so who knows one knows those of
// the groups before.
class KeptCopies {
 public:
  // Of a group that is over and not known it is the first.
  [[nodiscard]] Time stamp_of(std::uint32_t recorded) {
    is_used_ = true;
    const std::uint32_t group = recorded & ~wire::CopyRecord::kAgain;
    if (group == 0) {
      return base_ + 1;
    }
    nearest_ = nearest_ == 0 ? group : nearest_;
    const std::uint32_t place =
        std::clamp(kMostApart + group, nearest_ + 1, nearest_ + 2 * kMostApart - 1) - nearest_;
    return base_ + 2 * place + (group == recorded ? 0 : 1);
  }

  // Of that group and all before.
  [[nodiscard]] Time last_up_to(std::uint32_t group) {
    return stamp_of(group) + (group == 0 ? 0 : 1);
  }

  [[nodiscard]] Time last() const { return base_ + kOfInterval; }

  // In this interval.
  [[nodiscard]] bool is_used() const { return is_used_; }

  // After so many intervals in which one was logged as there are, no stamp is new.
  void end_interval() {
    const bool has_more = base_ < std::numeric_limits<Time>::max() - 2 * kOfInterval;
    base_ += has_more ? kOfInterval : 0;
    nearest_ = 0;
    is_used_ = false;
  }

 private:
  // Nobody has so many groups under way; those that lie further apart have one stamp.
  static constexpr std::uint32_t kMostApart = 2048;
  static constexpr Time kOfInterval = 4 * kMostApart;

  Time base_ = 0;
  std::uint32_t nearest_ = 0;  // the first group that was logged, in the middle
  bool is_used_ = false;
};

// A tensor map in memory that a lane is about to copy by: of which the copy's record does not say
// where it lies.
struct MapRead {
  std::uint64_t tagged = 0;
  wire::SiteId site{};
  bool is_there = false;
};

class Completions {
 public:
  // Of what the lane copies next.
  [[nodiscard]] MapRead& map_read(std::uint32_t lane) { return map_reads_[lane]; }

  // Those of wgmma, which the warp commits.
  [[nodiscard]] CopyGroups& matrix_groups() { return matrix_groups_; }

  [[nodiscard]] CopyGroups& groups(Completion completion, std::uint32_t lane) {
    DEBUG_ASSERT(lane < wire::kWarpLanes && completion != Completion::kMatrixReads &&
                 completion != Completion::kUnwaited && completion != Completion::kKept);
    const std::size_t kind = completion == Completion::kThreadGroup   ? 0
                             : completion == Completion::kTensorReads ? 2
                                                                      : 1;
    return groups_[kind][lane];
  }

  // Up to where the lane waited for its own completion, which its clock does not say before it
  // tells others.
  [[nodiscard]] Time waited(Completion completion, std::uint32_t lane) const {
    return waited_[static_cast<std::size_t>(completion)][lane];
  }

  void wait(Completion completion, std::uint32_t lane, Time time) {
    DEBUG_ASSERT(static_cast<std::size_t>(completion) < kCompletionCount &&
                 lane < wire::kWarpLanes);
    Time& waited = waited_[static_cast<std::size_t>(completion)][lane];
    waited = std::max(waited, time);
  }

  // The stamp of a copy that the device has kept, of the lane's group of that number.
  [[nodiscard]] Time kept_copy(std::uint32_t lane, std::uint32_t group) {
    return kept_[lane].stamp_of(group);
  }

  // The lane has waited for its groups up to that one.
  void end_kept(std::uint32_t lane, std::uint32_t group) {
    wait(Completion::kKept, lane, kept_[lane].last_up_to(group));
  }

  // The block has met: its threads know of all of those so far. Where there were none, the stamps
  // to come are not yet known to anybody.
  void end_kept_interval() {
    for (std::uint32_t lane = 0; lane < wire::kWarpLanes; ++lane) {
      if (kept_[lane].is_used()) {
        wait(Completion::kKept, lane, kept_[lane].last());
        kept_[lane].end_interval();
      }
    }
  }

  // Calls visit(completion, lanes, time) for lanes of `lanes` that waited up to the same time.
  template <typename Visit>
  void for_each_waited(std::uint32_t lanes, Visit visit) const {
    for (std::size_t completion = 0; completion < kCompletionCount; ++completion) {
      std::uint32_t rest = lanes;
      while (rest != 0) {
        const Time time = waited_[completion][first_lane(rest)];
        const std::uint32_t same = lanes_where(
            rest, [&](std::uint32_t lane) { return waited_[completion][lane] == time; });
        if (time != 0) {
          visit(static_cast<Completion>(completion), same, time);
        }
        rest &= ~same;
      }
    }
  }

 private:
  template <typename T>
  using OfLanes = std::array<T, wire::kWarpLanes>;

  OfLanes<MapRead> map_reads_{};
  std::array<OfLanes<CopyGroups>, 3> groups_;
  CopyGroups matrix_groups_;
  OfLanes<KeptCopies> kept_;
  std::array<OfLanes<Time>, kCompletionCount> waited_{};
};

}  // namespace barracuda::detector

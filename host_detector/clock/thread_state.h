// What one thread carries for happens-before (RACE_RULES section 1): its clock C, the releases F of
// its fences and the acquisitions A that wait for a fence. A cheap value; lanes of a converged warp
// share one.
#pragma once

#include <array>

#include <boost/smart_ptr/intrusive_ptr.hpp>

#include "device_logger/site_info.h"
#include "host_detector/clock/clock.h"

namespace barracuda::detector {

// The scopes that differ on one device: gpu and sys include the same threads.
enum class ScopeLevel : std::uint8_t { kCta, kCluster, kDevice };
inline constexpr std::size_t kLevelCount = 3;

constexpr ScopeLevel level_of(wire::Scope scope) {
  return scope == wire::Scope::kCta       ? ScopeLevel::kCta
         : scope == wire::Scope::kCluster ? ScopeLevel::kCluster
                                          : ScopeLevel::kDevice;
}

static_assert(level_of(wire::Scope::kCta) == ScopeLevel::kCta &&
              level_of(wire::Scope::kCluster) == ScopeLevel::kCluster &&
              level_of(wire::Scope::kGpu) == ScopeLevel::kDevice &&
              level_of(wire::Scope::kSys) == ScopeLevel::kDevice);

// In arrays that have something for each level, the narrow ones first: what reaches one level
// reaches those before it.
constexpr std::size_t index_of_level(ScopeLevel level) {
  switch (level) {
    case ScopeLevel::kCta:
      return 0;
    case ScopeLevel::kCluster:
      return 1;
    case ScopeLevel::kDevice:
      return 2;
  }
  return kLevelCount;
}

static_assert(index_of_level(ScopeLevel::kDevice) + 1 == kLevelCount);

// The clock of a thread when it fenced; `own` is its own time then, which differs from lane to lane
// and is therefore not part of the clock.
struct Release {
  Clock clock;
  Time own = 0;
  bool exists = false;
};

// F and A of a thread; immutable once shared.
struct FenceState : Counted<FenceState> {
  std::array<Release, kLevelCount> released;
  std::array<Clock, kLevelCount> pending;
  // The one source of all that is pending, or 0: what it gives later has all that it gave before.
  std::array<std::uint64_t, kLevelCount> pending_from{};
  Clock left_pending;  // what fences were too narrow for; only explains races
};

using FenceStatePointer = boost::intrusive_ptr<const FenceState>;

struct ThreadState {
  Clock clock;               // without the thread's own time, which is its warp's
  FenceStatePointer fences;  // null: no fence yet, nothing observed

  [[nodiscard]] bool shares_all_with(const ThreadState& other) const {
    return clock.shares_all_with(other.clock) && fences == other.fences;
  }
};

}  // namespace barracuda::detector

// What is known of the threads of one CTA: for each warp a time up to which every lane's accesses
// are known, and for warps whose lanes differ one time a lane. Immutable once shared: change a
// clone.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>

#include "device_logger/record.h"
#include "host_detector/launch.h"

namespace barracuda::detector {

// Counts within a warp; accesses are stamped with it, and it grows whenever a stamp becomes visible
// to other threads. 0 is before everything.
using Time = std::uint32_t;

// A CTA of a launch. Ordered by launch, then CTA.
enum class CtaKey : std::uint64_t {};

constexpr CtaKey cta_key(LaunchId launch, std::uint32_t cta) {
  return CtaKey{(static_cast<std::uint64_t>(launch) << 32) | cta};
}

constexpr LaunchId launch_of(CtaKey cta) {
  return LaunchId{static_cast<std::uint32_t>(static_cast<std::uint64_t>(cta) >> 32)};
}

// What of a CTA was followed by a proxy fence is kept in clocks under a key of its own, and so goes
// wherever clocks go (RACE_RULES section 1, async proxy).
inline constexpr std::uint64_t kFencedKey = std::uint64_t{1} << 63;

constexpr CtaKey fenced_key(CtaKey cta) {
  return CtaKey{static_cast<std::uint64_t>(cta) | kFencedKey};
}

constexpr bool is_fenced_key(CtaKey cta) {
  return (static_cast<std::uint64_t>(cta) & kFencedKey) != 0;
}

static_assert(launch_of(cta_key(LaunchId{7}, ~std::uint32_t{0})) == LaunchId{7},
              "32 bits for the launch, 32 for the CTA");
static_assert(is_fenced_key(fenced_key(CtaKey{})) &&
                  !is_fenced_key(cta_key(LaunchId{~std::uint32_t{0} >> 1}, ~std::uint32_t{0})),
              "the topmost bit is no launch's");

// Lanes of one warp that are known up to `time`.
struct WarpTime {
  std::uint32_t warp = 0;
  std::uint32_t lanes = 0;
  Time time = 0;
};

// Parts of clocks are shared by CTAs whose operations are applied on several threads.
template <typename T>
using Counted = boost::intrusive_ref_counter<T, boost::thread_safe_counter>;

class CtaClock;
using CtaClockPointer = boost::intrusive_ptr<const CtaClock>;

class CtaClock : public Counted<CtaClock> {
 public:
  explicit CtaClock(CtaKey key) : key_(key) {}

  // The same of another CTA.
  CtaClock(CtaKey key, const CtaClock& like)
      : key_(key), floors_(like.floors_), exceptions_(like.exceptions_) {}

  [[nodiscard]] CtaKey key() const { return key_; }

  // Known of every lane of the warp; never more than at() says of any.
  [[nodiscard]] Time floor(std::uint32_t warp) const {
    return warp < floors_.size() ? floors_[warp] : 0;
  }

  [[nodiscard]] Time at(std::uint32_t warp, std::uint32_t lane) const;
  [[nodiscard]] bool covers(const CtaClock& other) const;
  // Exceptions are by warp, differ from lane to lane, and their least time is the floor.
  [[nodiscard]] bool is_valid() const;

  // Only before the clock is shared.
  void raise(const WarpTime& known);
  void join(const CtaClock& other);

 private:
  struct Exception {  // lanes that are known further than the floor
    std::uint32_t warp = 0;
    std::array<Time, wire::kWarpLanes> times{};
  };

  [[nodiscard]] const Exception* exception(std::uint32_t warp) const;
  Exception& make_exception(std::uint32_t warp);
  void normalise(std::uint32_t warp);
  void raise_floor(std::uint32_t warp, Time time);

  CtaKey key_;
  std::vector<Time> floors_;
  std::vector<Exception> exceptions_;  // by warp, ascending; every time at least the floor
};

// The least clock that covers both; one of the two themselves where it does.
CtaClockPointer joined(const CtaClockPointer& a, const CtaClockPointer& b);

}  // namespace barracuda::detector

// What is known of the threads of one CTA: for each warp a time up to which every lane's accesses
// are known, and for warps whose lanes differ one time a lane. Immutable once shared: change a
// clone.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>

#include "base/strong_id.h"
#include "device_logger/record.h"
#include "host_detector/launch.h"

namespace barracuda::detector {

// Counts within a warp; accesses are stamped with it, and it grows whenever a stamp becomes visible
// to other threads. 0 is before everything.
using Time = std::uint32_t;

// A CTA of a launch, as vector clocks and shadow memory name it; what a copy did counts as done by
// its CTA 0. Ordered by work, then CTA.
//
// What of a CTA was followed by a proxy fence is kept in clocks under a key of its own, and so goes
// wherever clocks go (RACE_RULES section 1, async proxy).
class CtaKey {
 public:
  constexpr CtaKey() = default;  // of no work

  constexpr CtaKey(WorkId work, std::uint32_t cta)
      : packed_((static_cast<std::uint64_t>(work.packed()) << kCtaBits) | cta) {}

  [[nodiscard]] constexpr WorkId work() const {
    return WorkId::of(WorkId::Packed{static_cast<std::uint32_t>((packed_ & ~kFenced) >> kCtaBits)});
  }

  // Linear, in its grid.
  [[nodiscard]] constexpr std::uint32_t cta() const { return static_cast<std::uint32_t>(packed_); }

  [[nodiscard]] constexpr bool is_fenced() const { return (packed_ & kFenced) != 0; }

  [[nodiscard]] constexpr CtaKey fenced() const {
    CtaKey key = *this;
    key.packed_ |= kFenced;
    return key;
  }

  // No two keys have the same.
  [[nodiscard]] constexpr std::uint64_t packed() const { return packed_; }

  friend constexpr auto operator<=>(const CtaKey&, const CtaKey&) = default;

  friend std::size_t hash_value(CtaKey key) { return boost::hash<std::uint64_t>()(key.packed_); }

 private:
  static constexpr int kCtaBits = 32, kWorkBits = WorkId::kNumberBits + WorkId::kKindBits;
  static constexpr std::uint64_t kFenced = std::uint64_t{1} << (kCtaBits + kWorkBits);
  static_assert(kCtaBits + kWorkBits + 1 == 64, "the CTA, the work, and whether it is fenced");

  std::uint64_t packed_ = 0;
};

static_assert(sizeof(CtaKey) == sizeof(std::uint64_t));
static_assert(CtaKey(WorkId::of(WorkId::kMostPacked), ~std::uint32_t{0}).fenced().packed() ==
                  ~std::uint64_t{0} &&
              CtaKey(LaunchId{7}, ~std::uint32_t{0}).fenced().work() == LaunchId{7} &&
              CtaKey(CopyId{7}, 3).cta() == 3 && !CtaKey(CopyId{7}, 3).is_fenced());

// A row of a CTA's clock, with a time for each lane: one of its warps, or what stands in clocks
// beside a warp for what its copies are waited for by (completions.h).
enum class WarpSlot : std::uint32_t {};

constexpr WarpSlot warp_slot(std::uint32_t warp) {
  return WarpSlot{warp};
}

// Of which a clock says up to when it is known: a thread, or a lane of a slot that is no warp.
struct ClockPlace {
  CtaKey cta{};
  WarpSlot slot{};
  std::uint32_t lane = 0;
};

// Lanes of one row that are known up to `time`.
struct WarpTime {
  WarpSlot slot{};
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
      // NOLINTNEXTLINE(bugprone-throw-keyword-missing): these are no exceptions of C++
      : key_(key), floors_(like.floors_), exceptions_(like.exceptions_) {}

  // Of the fenced key: what is known of the slots from `first` on, up to where those at `to`
  // begin, at `to`. Null if that is nothing.
  [[nodiscard]] CtaClockPointer moved(WarpSlot first, WarpSlot to) const;

  [[nodiscard]] CtaKey key() const { return key_; }

  // Known of every lane of the slot; never more than at() says of any.
  [[nodiscard]] Time floor(WarpSlot slot) const {
    return index_of(slot) < floors_.size() ? floors_[index_of(slot)] : 0;
  }

  [[nodiscard]] Time at(WarpSlot slot, std::uint32_t lane) const;
  [[nodiscard]] bool covers(const CtaClock& other) const;
  // Exceptions are by slot, differ from lane to lane, and their least time is the floor.
  [[nodiscard]] bool is_valid() const;

  // Only before the clock is shared.
  void raise(const WarpTime& known);
  void join(const CtaClock& other);

 private:
  struct Exception {  // lanes that are known further than the floor
    WarpSlot slot{};
    std::array<Time, wire::kWarpLanes> times{};
  };

  [[nodiscard]] const Exception* exception(WarpSlot slot) const;
  Exception& make_exception(WarpSlot slot);
  void normalise(WarpSlot slot);
  void raise_floor(WarpSlot slot, Time time);

  CtaKey key_;
  std::vector<Time> floors_;
  std::vector<Exception> exceptions_;  // by slot, ascending; every time at least the floor
};

// The least clock that covers both; one of the two themselves where it does.
CtaClockPointer joined(const CtaClockPointer& a, const CtaClockPointer& b);

}  // namespace barracuda::detector

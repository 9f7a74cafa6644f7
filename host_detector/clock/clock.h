// A vector clock over all threads of a session: what some thread knows. The CTA it mostly speaks of
// is kept apart from the others, so that a barrier copies one CTA and shares the rest. A cheap
// value: two pointers to immutable parts.
#pragma once

#include <optional>
#include <span>
#include <utility>

#include "base/assert.h"
#include "host_detector/clock/clock_tree.h"

namespace barracuda::detector {

// One state of something that only ever learns more, as what was released through a location. Of
// two clocks that come from it the versions tell which has more, so they need not be compared: at
// a barrier of a grid each block takes what all released, and has taken it at the last one.
struct Snapshot {
  std::uint64_t of = 0;  // 0: of nothing that is known
  std::uint64_t version = 0;

  [[nodiscard]] bool is_no_older_than(const Snapshot& other) const {
    return of != 0 && of == other.of && version >= other.version;
  }
};

class Clock {
 public:
  Clock() = default;

  // Knows nothing yet; `home` is the CTA that will be kept apart.
  explicit Clock(CtaKey home) : home_(new CtaClock(home)) {}

  [[nodiscard]] bool is_empty() const { return home_ == nullptr && others_ == nullptr; }

  [[nodiscard]] Time floor(CtaKey cta, WarpSlot slot) const {
    const CtaClock* part = find(cta);
    return part != nullptr ? part->floor(slot) : 0;
  }

  [[nodiscard]] Time at(const ClockPlace& place) const {
    const CtaClock* part = find(place.cta);
    return part != nullptr ? part->at(place.slot, place.lane) : 0;
  }

  [[nodiscard]] bool covers(const Clock& other) const;
  // Of both parts, and the home is not among the others.
  [[nodiscard]] bool is_valid() const;

  // The same parts, hence the same knowledge; different parts may still know the same.
  [[nodiscard]] bool shares_all_with(const Clock& other) const {
    return home_ == other.home_ && others_ == other.others_;
  }

  // Knows something of a launch or copy for which `holds` is true, proxy fences aside.
  template <typename Predicate>
  [[nodiscard]] bool knows_work(Predicate holds) const;

  void join(const Clock& other);
  // The same clock with no CTA apart.
  [[nodiscard]] Clock without_home() const;

  // What it knows of all CTAs but its home is what this had, and of its home it knows no less.
  [[nodiscard]] const Snapshot& snapshot() const { return snapshot_; }

  // None: CtaKey{}.
  [[nodiscard]] CtaKey home() const { return home_ != nullptr ? home_->key() : CtaKey{}; }

  // All it knows, and it has no home, is what `snapshot` had.
  void set_snapshot(const Snapshot& snapshot);
  void raise(CtaKey cta, std::span<const WarpTime> known);
  // All it knows of CTAs of `launch` counts as followed by a proxy fence.
  void fence_proxy(LaunchId launch);
  // All it knows of CTAs of `launch` counts as released to the tensor-map proxy.
  void release_to_maps(LaunchId launch);
  // All that was counts as acquired there.
  void acquire_for_maps(LaunchId launch);
  // The clock without what it knows of CTAs for which `drop` is true.
  template <typename Predicate>
  [[nodiscard]] Clock without(Predicate drop) const;

 private:
  [[nodiscard]] const CtaClock* find(CtaKey cta) const {
    return home_ != nullptr && home_->key() == cta ? home_.get()
                                                   : ClockTree::find(others_.get(), cta);
  }

  // By its parts alone.
  [[nodiscard]] bool covers_parts(const Clock& other) const;

  [[nodiscard]] bool is_no_older_than(const Clock& other) const {
    return snapshot_.is_no_older_than(other.snapshot_);
  }

  void join_part(const CtaClockPointer& part);
  // Joins what make(part) makes of each part of `launch`: null, or one of the CTA's fenced key.
  template <typename Make>
  void join_made(LaunchId launch, Make make);
  void join_others(const Clock& other);

  CtaClockPointer home_;
  ClockTreePointer others_;  // never the home
  // What others_ has is all that this snapshot had, but for the home, of which home_ has no less.
  Snapshot snapshot_;
};

template <typename Predicate>
bool Clock::knows_work(Predicate holds) const {
  if (home_ != nullptr && !home_->key().is_fenced() && holds(home_->key().work())) {
    return true;
  }
  std::optional<WorkId> last;
  return !ClockTree::all_of(others_.get(), [&](const CtaClockPointer& part) {
    const WorkId work = part->key().work();
    return part->key().is_fenced() || std::exchange(last, work) == work || !holds(work);
  });
}

template <typename Predicate>
Clock Clock::without(Predicate drop) const {
  Clock kept;
  if (home_ != nullptr && !drop(home_->key())) {
    kept.home_ = home_;
  }
  bool all = true;
  ClockTreePointer some;
  ClockTree::all_of(others_.get(), [&](const CtaClockPointer& part) {
    if (drop(part->key())) {
      all = false;
    } else {
      some = ClockTree::joined(some, ClockTree::leaf(part));
    }
    return true;
  });
  kept.others_ = all ? others_ : some;
  DEBUG_ASSERT(kept.is_valid());
  return kept;
}

}  // namespace barracuda::detector

// A vector clock over all threads of a session: what some thread knows. The CTA it mostly speaks of
// is kept apart from the others, so that a barrier copies one CTA and shares the rest. A cheap
// value: two pointers to immutable parts.
#pragma once

#include <span>

#include "host_detector/clock/cta_clock.h"

namespace barracuda::detector {

class Clock {
 public:
  Clock() = default;

  // Knows nothing yet; `home` is the CTA that will be kept apart.
  explicit Clock(CtaKey home) : home_(new CtaClock(home)) {}

  [[nodiscard]] bool is_empty() const { return home_ == nullptr && others_ == nullptr; }

  [[nodiscard]] Tick floor(CtaKey cta, std::uint32_t warp) const {
    const CtaClock* part = find(cta);
    return part != nullptr ? part->floor(warp) : 0;
  }

  [[nodiscard]] Tick at(CtaKey cta, std::uint32_t warp, std::uint32_t lane) const {
    const CtaClock* part = find(cta);
    return part != nullptr ? part->at(warp, lane) : 0;
  }

  [[nodiscard]] bool covers(const Clock& other) const;
  [[nodiscard]] bool is_valid() const;

  // The same parts, hence the same knowledge; different parts may still know the same.
  [[nodiscard]] bool shares_all_with(const Clock& other) const {
    return home_ == other.home_ && others_ == other.others_;
  }

  void join(const Clock& other);
  void raise(CtaKey cta, std::span<const WarpTick> known);
  // The clock without what it knows of CTAs for which `drop` is true.
  template <typename Predicate>
  [[nodiscard]] Clock without(Predicate drop) const;

 private:
  struct Others : Counted<Others> {
    std::vector<CtaClockPointer> parts;  // by key, ascending; never the home's
  };

  using OthersPointer = boost::intrusive_ptr<const Others>;

  [[nodiscard]] const CtaClock* find(CtaKey cta) const {
    return home_ != nullptr && home_->key() == cta ? home_.get() : find_other(cta);
  }

  [[nodiscard]] const CtaClock* find_other(CtaKey cta) const;
  void join_part(const CtaClockPointer& part);
  void join_others(const OthersPointer& theirs);

  CtaClockPointer home_;
  OthersPointer others_;
};

template <typename Predicate>
Clock Clock::without(Predicate drop) const {
  Clock kept;
  if (home_ != nullptr && !drop(home_->key())) {
    kept.home_ = home_;
  }
  if (others_ != nullptr) {
    boost::intrusive_ptr<Others> some(new Others);
    for (const CtaClockPointer& part : others_->parts) {
      if (!drop(part->key())) {
        some->parts.push_back(part);
      }
    }
    if (some->parts.size() == others_->parts.size()) {
      kept.others_ = others_;
    } else if (!some->parts.empty()) {
      kept.others_ = some;
    }
  }
  return kept;
}

}  // namespace barracuda::detector

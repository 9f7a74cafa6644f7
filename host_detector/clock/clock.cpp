#include "host_detector/clock/clock.h"

#include "host_detector/clock/completions.h"

namespace barracuda::detector {

bool Clock::covers(const Clock& other) const {
  if (is_no_older_than(other) && other.home_ == nullptr) {
    return true;
  }
  return covers_parts(other);
}

bool Clock::covers_parts(const Clock& other) const {
  const auto covers_part = [this](const CtaClockPointer& part) {
    const CtaClock* ours = find(part->key());
    return ours != nullptr ? ours->covers(*part) : CtaClock(part->key()).covers(*part);
  };
  if (other.home_ != nullptr && other.home_ != home_ && !covers_part(other.home_)) {
    return false;
  }
  if (home_ == nullptr || other.others_ == others_) {
    return ClockTree::covers(others_.get(), other.others_.get());
  }
  // `other` keeps our home among its other CTAs: compare that part with our home.
  const CtaClock* of_home = ClockTree::find(other.others_.get(), home_->key());
  if (of_home == nullptr) {
    return ClockTree::covers(others_.get(), other.others_.get());
  }
  return home_->covers(*of_home) &&
         ClockTree::covers(others_.get(), ClockTree::without(other.others_, home_->key()).get());
}

void Clock::join_part(const CtaClockPointer& part) {
  if (home_ == nullptr && others_ == nullptr) {
    home_ = part;
    snapshot_ = {};
  } else if (home_ != nullptr && home_->key() == part->key()) {
    home_ = joined(home_, part);
  } else {
    const CtaClock* known = ClockTree::find(others_.get(), part->key());
    if (known == nullptr || !known->covers(*part)) {
      others_ = ClockTree::joined(others_, ClockTree::leaf(part));
      snapshot_ = {};
    }
  }
}

// What `other` knows of other CTAs than its home. If that home is none of ours, others_ lacks it
// for a moment.
void Clock::join_others(const Clock& other) {
  ClockTreePointer theirs = other.others_;
  const CtaClock* of_home =
      home_ != nullptr ? ClockTree::find(theirs.get(), home_->key()) : nullptr;
  if (of_home != nullptr) {
    home_ = joined(home_, CtaClockPointer(of_home));
    theirs = ClockTree::without(theirs, home_->key());
  }
  ClockTreePointer both =
      other.is_no_older_than(*this) ? theirs : ClockTree::joined(others_, theirs);
  if (both == theirs) {
    snapshot_ = other.snapshot_;
  } else if (both != others_) {
    snapshot_ = {};
  }
  others_ = std::move(both);
}

void Clock::join(const Clock& other) {
  if (is_empty()) {
    *this = other;
    return;
  }
  if (other.others_ != others_ && !is_no_older_than(other)) {
    join_others(other);
  }
  if (other.home_ != nullptr && other.home_ != home_) {
    join_part(other.home_);
  }
  DEBUG_ASSERT(is_valid() && covers_parts(other));
}

Clock Clock::without_home() const {
  Clock all;
  all.others_ = home_ == nullptr ? others_ : ClockTree::joined(others_, ClockTree::leaf(home_));
  return all;
}

void Clock::set_snapshot(const Snapshot& snapshot) {
  ASSERT(home_ == nullptr);
  snapshot_ = snapshot;
}

void Clock::raise(CtaKey cta, std::span<const WarpTime> known) {
  const CtaClock* before = find(cta);
  const boost::intrusive_ptr<CtaClock> part(before != nullptr ? new CtaClock(*before)
                                                              : new CtaClock(cta));
  for (const WarpTime& row : known) {
    part->raise(row);
  }
  if (home_ != nullptr && home_->key() == cta) {
    home_ = part;
  } else {
    join_part(part);
  }
  DEBUG_ASSERT(is_valid());
}

template <typename Make>
void Clock::join_made(LaunchId launch, Make make) {
  const Clock before = *this;
  const auto join_one = [&](const CtaClockPointer& part) {
    if (part->key().work() == launch) {
      const CtaClockPointer made = make(*part);
      const CtaClock* known = made == nullptr ? nullptr : find(made->key());
      if (made != nullptr && (known == nullptr || !known->covers(*made))) {
        join_part(made);
      }
    }
    return true;
  };
  if (before.home_ != nullptr) {
    join_one(before.home_);
  }
  ClockTree::all_of(before.others_.get(), join_one);
  DEBUG_ASSERT(is_valid() && covers(before));
}

void Clock::fence_proxy(LaunchId launch) {
  join_made(launch, [](const CtaClock& part) {
    return part.key().is_fenced() ? nullptr
                                  : CtaClockPointer(new CtaClock(part.key().fenced(), part));
  });
}

void Clock::release_to_maps(LaunchId launch) {
  join_made(launch, [](const CtaClock& part) {
    return part.key().is_fenced()
               ? nullptr
               : part.moved(warp_slot(0), view_slot(MapView::kReleased, warp_slot(0)));
  });
}

void Clock::acquire_for_maps(LaunchId launch) {
  join_made(launch, [](const CtaClock& part) {
    return part.key().is_fenced() ? part.moved(view_slot(MapView::kReleased, warp_slot(0)),
                                               view_slot(MapView::kAcquired, warp_slot(0)))
                                  : nullptr;
  });
}

bool Clock::is_valid() const {
  return (home_ == nullptr ||
          (home_->is_valid() && ClockTree::find(others_.get(), home_->key()) == nullptr)) &&
         (others_ == nullptr || others_->is_valid());
}

}  // namespace barracuda::detector

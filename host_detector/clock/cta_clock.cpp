#include "host_detector/clock/cta_clock.h"

#include <algorithm>

#include "base/assert.h"
#include "host_detector/lanes.h"

namespace barracuda::detector {

const CtaClock::Exception* CtaClock::exception(WarpSlot slot) const {
  for (const Exception& candidate : exceptions_) {
    if (candidate.slot == slot) {
      return &candidate;
    }
  }
  return nullptr;
}

Time CtaClock::at(WarpSlot slot, std::uint32_t lane) const {
  DEBUG_ASSERT(lane < wire::kWarpLanes);
  const Exception* lanes = exceptions_.empty() ? nullptr : exception(slot);
  return lanes != nullptr ? lanes->times[lane] : floor(slot);
}

bool CtaClock::covers(const CtaClock& other) const {
  if (this == &other) {
    return true;
  }
  for (std::uint32_t slot = 0; slot < other.floors_.size(); ++slot) {
    if (other.floors_[slot] > floor(WarpSlot{slot})) {
      // Lanes known one by one may still cover a floor only if their least does, and then the least
      // would be our floor.
      return false;
    }
  }
  return std::ranges::all_of(other.exceptions_, [this](const Exception& theirs) {
    const Time ours = floor(theirs.slot);
    const Exception* lanes = exception(theirs.slot);
    for (std::uint32_t lane = 0; lane < wire::kWarpLanes; ++lane) {
      if (theirs.times[lane] > (lanes != nullptr ? lanes->times[lane] : ours)) {
        return false;
      }
    }
    return true;
  });
}

CtaClock::Exception& CtaClock::make_exception(WarpSlot slot) {
  auto place = std::ranges::lower_bound(exceptions_, slot, {}, &Exception::slot);
  if (place == exceptions_.end() || place->slot != slot) {
    place = exceptions_.insert(place, Exception{.slot = slot});
    place->times.fill(floor(slot));
  }
  return *place;
}

void CtaClock::normalise(WarpSlot slot) {
  const auto place = std::ranges::lower_bound(exceptions_, slot, {}, &Exception::slot);
  if (place == exceptions_.end() || place->slot != slot) {
    return;
  }
  const auto [least, most] = std::ranges::minmax(place->times);
  if (least > floor(slot)) {
    floors_.resize(std::max<std::size_t>(floors_.size(), index_of(slot) + 1));
    floors_[index_of(slot)] = least;
  }
  if (least == most) {
    exceptions_.erase(place);
  }
}

void CtaClock::raise_floor(WarpSlot slot, Time time) {
  if (time <= floor(slot)) {
    return;
  }
  if (index_of(slot) >= floors_.size()) {
    floors_.resize(index_of(slot) + 1);
  }
  floors_[index_of(slot)] = time;
  if (!exceptions_.empty() && exception(slot) != nullptr) {
    for (Time& lane : make_exception(slot).times) {
      lane = std::max(lane, time);
    }
    normalise(slot);
  }
}

void CtaClock::raise(const WarpTime& known) {
  if (known.lanes == ~std::uint32_t{0}) {
    raise_floor(known.slot, known.time);
    DEBUG_ASSERT(is_valid());
    return;
  }
  if (known.lanes == 0 || known.time <= floor(known.slot)) {
    return;
  }
  Exception& lanes = make_exception(known.slot);
  for (std::uint32_t lane = 0; lane < wire::kWarpLanes; ++lane) {
    if (((known.lanes >> lane) & 1) != 0) {
      lanes.times[lane] = std::max(lanes.times[lane], known.time);
    }
  }
  normalise(known.slot);
  DEBUG_ASSERT(is_valid() && at(known.slot, first_lane(known.lanes)) >= known.time);
}

void CtaClock::join(const CtaClock& other) {
  ASSERT(&other != this);
  for (std::uint32_t slot = 0; slot < other.floors_.size(); ++slot) {
    raise_floor(WarpSlot{slot}, other.floors_[slot]);
  }
  for (const Exception& theirs : other.exceptions_) {
    Exception& ours = make_exception(theirs.slot);
    for (std::uint32_t lane = 0; lane < wire::kWarpLanes; ++lane) {
      ours.times[lane] = std::max(ours.times[lane], theirs.times[lane]);
    }
    normalise(theirs.slot);
  }
  DEBUG_ASSERT(is_valid() && covers(other));
}

CtaClockPointer CtaClock::moved(WarpSlot from, WarpSlot until) const {
  const std::uint32_t first = index_of(from);
  const std::uint32_t to = index_of(until);
  const boost::intrusive_ptr<CtaClock> made(new CtaClock(key_.fenced()));
  const std::uint32_t end = std::min(to, static_cast<std::uint32_t>(floors_.size()));
  const std::uint32_t by = to - first;
  if (first < end) {
    made->floors_.resize(end + by);
    std::copy(floors_.begin() + first, floors_.begin() + end, made->floors_.begin() + to);
  }
  for (const Exception& lanes : exceptions_) {
    if (lanes.slot >= from && lanes.slot < until) {
      made->exceptions_.push_back(lanes);
      made->exceptions_.back().slot = WarpSlot{index_of(lanes.slot) + by};
    }
  }
  return made->floors_.empty() && made->exceptions_.empty() ? nullptr : made;
}

bool CtaClock::is_valid() const {
  for (std::size_t index = 0; index < exceptions_.size(); ++index) {
    const Exception& lanes = exceptions_[index];
    const auto [least, most] = std::ranges::minmax(lanes.times);
    if (least != floor(lanes.slot) || most == least ||
        (index > 0 && exceptions_[index - 1].slot >= lanes.slot)) {
      return false;
    }
  }
  return true;
}

CtaClockPointer joined(const CtaClockPointer& a, const CtaClockPointer& b) {
  ASSERT(a->key() == b->key());
  if (a->covers(*b)) {
    return a;
  }
  if (b->covers(*a)) {
    return b;
  }
  const boost::intrusive_ptr<CtaClock> both(new CtaClock(*a));
  both->join(*b);
  return both;
}

}  // namespace barracuda::detector

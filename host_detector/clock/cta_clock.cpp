#include "host_detector/clock/cta_clock.h"

#include <algorithm>

#include "base/assert.h"
#include "host_detector/lanes.h"

namespace barracuda::detector {

const CtaClock::Exception* CtaClock::exception(std::uint32_t warp) const {
  for (const Exception& candidate : exceptions_) {
    if (candidate.warp == warp) {
      return &candidate;
    }
  }
  return nullptr;
}

Time CtaClock::at(std::uint32_t warp, std::uint32_t lane) const {
  DEBUG_ASSERT(lane < wire::kWarpLanes);
  const Exception* lanes = exceptions_.empty() ? nullptr : exception(warp);
  return lanes != nullptr ? lanes->times[lane] : floor(warp);
}

bool CtaClock::covers(const CtaClock& other) const {
  if (this == &other) {
    return true;
  }
  for (std::uint32_t warp = 0; warp < other.floors_.size(); ++warp) {
    if (other.floors_[warp] > floor(warp)) {
      // Lanes known one by one may still cover a floor only if their least does, and then the least
      // would be our floor.
      return false;
    }
  }
  return std::ranges::all_of(other.exceptions_, [this](const Exception& theirs) {
    const Time ours = floor(theirs.warp);
    const Exception* lanes = exception(theirs.warp);
    for (std::uint32_t lane = 0; lane < wire::kWarpLanes; ++lane) {
      if (theirs.times[lane] > (lanes != nullptr ? lanes->times[lane] : ours)) {
        return false;
      }
    }
    return true;
  });
}

CtaClock::Exception& CtaClock::make_exception(std::uint32_t warp) {
  auto place = std::ranges::lower_bound(exceptions_, warp, {}, &Exception::warp);
  if (place == exceptions_.end() || place->warp != warp) {
    place = exceptions_.insert(place, Exception{.warp = warp});
    place->times.fill(floor(warp));
  }
  return *place;
}

void CtaClock::normalise(std::uint32_t warp) {
  const auto place = std::ranges::lower_bound(exceptions_, warp, {}, &Exception::warp);
  if (place == exceptions_.end() || place->warp != warp) {
    return;
  }
  const auto [least, most] = std::ranges::minmax(place->times);
  if (least > floor(warp)) {
    floors_.resize(std::max<std::size_t>(floors_.size(), warp + 1));
    floors_[warp] = least;
  }
  if (least == most) {
    exceptions_.erase(place);
  }
}

void CtaClock::raise_floor(std::uint32_t warp, Time time) {
  if (time <= floor(warp)) {
    return;
  }
  if (warp >= floors_.size()) {
    floors_.resize(warp + 1);
  }
  floors_[warp] = time;
  if (!exceptions_.empty() && exception(warp) != nullptr) {
    for (Time& lane : make_exception(warp).times) {
      lane = std::max(lane, time);
    }
    normalise(warp);
  }
}

void CtaClock::raise(const WarpTime& known) {
  if (known.lanes == ~std::uint32_t{0}) {
    raise_floor(known.warp, known.time);
    DEBUG_ASSERT(is_valid());
    return;
  }
  if (known.lanes == 0 || known.time <= floor(known.warp)) {
    return;
  }
  Exception& lanes = make_exception(known.warp);
  for (std::uint32_t lane = 0; lane < wire::kWarpLanes; ++lane) {
    if (((known.lanes >> lane) & 1) != 0) {
      lanes.times[lane] = std::max(lanes.times[lane], known.time);
    }
  }
  normalise(known.warp);
  DEBUG_ASSERT(is_valid() && at(known.warp, first_lane(known.lanes)) >= known.time);
}

void CtaClock::join(const CtaClock& other) {
  ASSERT(&other != this);
  for (std::uint32_t warp = 0; warp < other.floors_.size(); ++warp) {
    raise_floor(warp, other.floors_[warp]);
  }
  for (const Exception& theirs : other.exceptions_) {
    Exception& ours = make_exception(theirs.warp);
    for (std::uint32_t lane = 0; lane < wire::kWarpLanes; ++lane) {
      ours.times[lane] = std::max(ours.times[lane], theirs.times[lane]);
    }
    normalise(theirs.warp);
  }
  DEBUG_ASSERT(is_valid() && covers(other));
}

CtaClockPointer CtaClock::moved(std::uint32_t first, std::uint32_t to) const {
  const boost::intrusive_ptr<CtaClock> made(new CtaClock(key_.fenced()));
  const std::uint32_t end = std::min(to, static_cast<std::uint32_t>(floors_.size()));
  const std::uint32_t by = to - first;
  if (first < end) {
    made->floors_.resize(end + by);
    std::copy(floors_.begin() + first, floors_.begin() + end, made->floors_.begin() + to);
  }
  for (const Exception& lanes : exceptions_) {
    if (lanes.warp >= first && lanes.warp < to) {
      made->exceptions_.push_back(lanes);
      made->exceptions_.back().warp += by;
    }
  }
  return made->floors_.empty() && made->exceptions_.empty() ? nullptr : made;
}

bool CtaClock::is_valid() const {
  for (std::size_t index = 0; index < exceptions_.size(); ++index) {
    const Exception& lanes = exceptions_[index];
    const auto [least, most] = std::ranges::minmax(lanes.times);
    if (least != floor(lanes.warp) || most == least ||
        (index > 0 && exceptions_[index - 1].warp >= lanes.warp)) {
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

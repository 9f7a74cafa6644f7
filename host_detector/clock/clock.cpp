#include "host_detector/clock/clock.h"

#include <algorithm>

namespace barracuda::detector {
namespace {

CtaKey key_of(const CtaClockPointer& part) {
  return part->key();
}

}  // namespace

const CtaClock* Clock::find_other(CtaKey cta) const {
  if (others_ == nullptr) {
    return nullptr;
  }
  const auto place = std::ranges::lower_bound(others_->parts, cta, {}, key_of);
  return place != others_->parts.end() && (*place)->key() == cta ? place->get() : nullptr;
}

bool Clock::covers(const Clock& other) const {
  const auto covers_part = [this](const CtaClockPointer& part) {
    const CtaClock* ours = find(part->key());
    return ours != nullptr ? ours->covers(*part) : CtaClock(part->key()).covers(*part);
  };
  if (other.home_ != nullptr && other.home_ != home_ && !covers_part(other.home_)) {
    return false;
  }
  return other.others_ == nullptr || other.others_ == others_ ||
         std::ranges::all_of(other.others_->parts, covers_part);
}

void Clock::join_part(const CtaClockPointer& part) {
  if (home_ == nullptr && others_ == nullptr) {
    home_ = part;
    return;
  }
  if (home_ != nullptr && home_->key() == part->key()) {
    home_ = joined(home_, part);
    return;
  }
  if (others_ == nullptr) {
    boost::intrusive_ptr<Others> one(new Others);
    one->parts.push_back(part);
    others_ = one;
    return;
  }
  const auto place = std::ranges::lower_bound(others_->parts, part->key(), {}, key_of);
  const auto index = place - others_->parts.begin();
  const bool known = place != others_->parts.end() && (*place)->key() == part->key();
  if (known && (*place)->covers(*part)) {
    return;
  }
  boost::intrusive_ptr<Others> changed(new Others(*others_));
  if (known) {
    CtaClockPointer& ours = changed->parts[static_cast<std::size_t>(index)];
    ours = joined(ours, part);
  } else {
    changed->parts.insert(changed->parts.begin() + index, part);
  }
  others_ = changed;
}

void Clock::join_others(const OthersPointer& theirs) {
  if (theirs == nullptr || theirs == others_) {
    return;
  }
  const bool has_home = home_ != nullptr;
  if (others_ == nullptr && (!has_home || [&] {
        const auto place = std::ranges::lower_bound(theirs->parts, home_->key(), {}, key_of);
        return place == theirs->parts.end() || (*place)->key() != home_->key();
      }())) {
    others_ = theirs;
    return;
  }
  boost::intrusive_ptr<Others> merged(new Others);
  static const std::vector<CtaClockPointer> kNone;
  const std::vector<CtaClockPointer>& ours = others_ != nullptr ? others_->parts : kNone;
  merged->parts.reserve(ours.size() + theirs->parts.size());
  bool same = true;  // as ours
  auto mine = ours.begin();
  for (const CtaClockPointer& part : theirs->parts) {
    if (has_home && part->key() == home_->key()) {
      home_ = joined(home_, part);
      continue;
    }
    while (mine != ours.end() && (*mine)->key() < part->key()) {
      merged->parts.push_back(*mine++);
    }
    if (mine != ours.end() && (*mine)->key() == part->key()) {
      merged->parts.push_back(joined(*mine, part));
      same = same && merged->parts.back() == *mine;
      ++mine;
    } else {
      merged->parts.push_back(part);
      same = false;
    }
  }
  merged->parts.insert(merged->parts.end(), mine, ours.end());
  if (!same) {
    others_ = merged;
  }
}

void Clock::join(const Clock& other) {
  if (is_empty()) {
    *this = other;
    return;
  }
  // Of an unrelated home first: it may be new to `others_`, which is then merged once.
  if (other.others_ != others_) {
    join_others(other.others_);
  }
  if (other.home_ != nullptr && other.home_ != home_) {
    join_part(other.home_);
  }
}

void Clock::raise(CtaKey cta, std::span<const WarpTick> known) {
  const CtaClock* before = find(cta);
  const boost::intrusive_ptr<CtaClock> part(before != nullptr ? new CtaClock(*before)
                                                              : new CtaClock(cta));
  for (const WarpTick& warp : known) {
    part->raise(warp);
  }
  if (home_ != nullptr && home_->key() == cta) {
    home_ = part;
  } else {
    join_part(part);
  }
}

bool Clock::is_valid() const {
  if (home_ != nullptr && (!home_->is_valid() || find_other(home_->key()) != nullptr)) {
    return false;
  }
  return others_ == nullptr ||
         (std::ranges::all_of(others_->parts,
                              [](const CtaClockPointer& part) { return part->is_valid(); }) &&
          std::ranges::adjacent_find(others_->parts, std::ranges::greater_equal{}, key_of) ==
              others_->parts.end());
}

}  // namespace barracuda::detector

#include "session/thread_overlap.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace barracuda::session {
namespace {

// Addresses and their sums stay far from the ends of 64 bits.
constexpr __int128 kFar = __int128{1} << 62;
// Choices that are looked at for one launch; where they nest well, there are few.
constexpr int kMostChoices = 4000;

// By how much two accesses may differ in one number: `stride` times -most to most.
struct Digit {
  __int128 stride = 0, most = 0;
  bool is_of_thread = false;  // else of one thread's own rounds
};

struct Interval {
  __int128 low = 0, high = 0;

  friend bool operator==(const Interval&, const Interval&) = default;
};

__int128 rounded_down(__int128 number, __int128 divisor) {
  const __int128 quotient = number / divisor;
  return number % divisor < 0 ? quotient - 1 : quotient;
}

// Whether digits of two different threads make a number of an interval.
class DigitSearch {
 public:
  explicit DigitSearch(std::vector<Digit> digits) : digits_(std::move(digits)) {
    std::ranges::sort(digits_, std::greater<>(), &Digit::stride);
    reach_.assign(digits_.size() + 1, 0);
    for (std::size_t i = digits_.size(); i-- > 0;) {
      reach_[i] = reach_[i + 1] + digits_[i].stride * digits_[i].most;
    }
  }

  // True as well if there were too many choices.
  bool may_find(const Interval& wanted) { return may_find(0, wanted, false); }

 private:
  // From the largest stride on; `differ`: the digits chosen so far are of two threads.
  bool may_find(std::size_t from, const Interval& wanted, bool differ) {
    if (++choices_ > kMostChoices) {
      return true;
    }
    if (wanted.high < -reach_[from] || wanted.low > reach_[from]) {
      return false;
    }
    if (from == digits_.size()) {
      return differ;
    }
    const Digit& digit = digits_[from];
    const __int128 rest = reach_[from + 1];
    const __int128 first = std::max(-digit.most, -rounded_down(rest - wanted.low, digit.stride));
    const __int128 last = std::min(digit.most, rounded_down(wanted.high + rest, digit.stride));
    for (__int128 i = first; i <= last; ++i) {
      if (may_find(from + 1,
                   {.low = wanted.low - i * digit.stride, .high = wanted.high - i * digit.stride},
                   differ || (digit.is_of_thread && i != 0))) {
        return true;
      }
    }
    return false;
  }

  std::vector<Digit> digits_;
  std::vector<__int128> reach_;  // of the digits from one on
  int choices_ = 0;
};

// The parts of the threads' numbers that make an index: by part.
using Parts = std::array<bool, kMostParts>;

// The digit that stands for all parts of a bounded index: two threads that differ in them have
// another index each, for each part is worth more than all smaller ones together, and the address
// has a multiple of the index. Nothing if that is not so, or the bound is none.
std::optional<Digit> digit_of(const IndexBound& bound, const AffineAddress& address,
                              const PartExtents& extents, Parts& parts) {
  std::vector<std::pair<__int128, std::size_t>> factors;
  for (std::size_t i = 0; i < kMostParts; ++i) {
    if (extents.at(i) > 1 && bound.index.factors.at(i) != 0) {
      factors.emplace_back(bound.index.factors.at(i), i);
    }
  }
  std::ranges::sort(factors);
  if (factors.empty() || factors.front().first < 0) {
    return std::nullopt;
  }
  const auto [least, first] = factors.front();
  const __int128 times = address.factors.at(first) / least;
  __int128 reach = 0;
  for (const auto& [factor, part] : factors) {
    if (factor <= reach || times == 0 || address.factors.at(part) != times * factor ||
        parts.at(part)) {
      return std::nullopt;
    }
    reach += factor * (__int128{extents.at(part)} - 1);
  }
  const __int128 most = std::max(__int128{0}, __int128{bound.most} - bound.index.constant);
  if (most >= reach || reach > kFar) {
    return std::nullopt;
  }
  for (const auto& [factor, part] : factors) {
    parts.at(part) = true;
  }
  return Digit{.stride = times < 0 ? -times : times, .most = most, .is_of_thread = true};
}

// Of the threads' numbers. Nothing if some do not matter, so that two threads are alike.
std::optional<std::vector<Digit>> digits_of_threads(const AffineAddress& address,
                                                    std::span<const IndexBound> bounds,
                                                    const PartExtents& extents) {
  std::vector<Digit> digits;
  Parts are_bounded{};
  for (const IndexBound& bound : bounds) {
    if (const auto digit = digit_of(bound, address, extents, are_bounded)) {
      digits.push_back(*digit);
    }
  }
  for (std::size_t i = 0; i < kMostParts; ++i) {
    const __int128 factor = address.factors.at(i);
    if (extents.at(i) > 1 && factor == 0) {
      return std::nullopt;
    }
    if (extents.at(i) > 1 && !are_bounded.at(i)) {
      digits.push_back({.stride = factor < 0 ? -factor : factor,
                        .most = __int128{extents.at(i)} - 1,
                        .is_of_thread = true});
    }
  }
  return digits;
}

// All places where the accesses may be, without what counters add.
Interval span_of(std::span<const Footprint> footprints, const PartExtents& extents) {
  const auto& address = footprints.front().address;
  Interval span{.low = address.constant, .high = address.constant};
  for (const Footprint& footprint : footprints) {
    span.low = std::min(span.low, __int128{footprint.address.constant});
    span.high = std::max(span.high, __int128{footprint.address.constant});
  }
  for (std::size_t i = 0; i < kMostParts; ++i) {
    const __int128 last = __int128{address.factors.at(i)} * (__int128{extents.at(i)} - 1);
    (last < 0 ? span.low : span.high) += last;
  }
  return span;
}

__int128 widest(std::span<const Footprint> footprints) {
  return std::ranges::max(footprints, {}, &Footprint::bytes).bytes;
}

// Of counters: as many rounds as lead through the range, all in one direction.
bool add_rounds(std::vector<Digit>& digits, std::span<const Footprint> footprints,
                const Interval& span, const MemoryRange& range) {
  std::vector<__int128> steps;
  for (const Footprint& footprint : footprints) {
    const auto& own = footprint.address.steps;
    steps.insert(steps.end(), own.begin(), own.begin() + footprint.address.step_count);
  }
  std::ranges::sort(steps);
  const auto repeated = std::ranges::unique(steps);
  steps.erase(repeated.begin(), repeated.end());
  if (steps.empty()) {
    return true;
  }
  const bool ascend = steps.front() > 0;
  if (!ascend && steps.back() > 0) {
    return false;
  }
  const __int128 begin = range.address, end = begin + range.bytes;
  const __int128 way =
      std::max(__int128{0}, ascend ? end - span.low : span.high - begin + widest(footprints));
  // All together lead no further. If each is a multiple of the smallest, they are rounds of that.
  const __int128 smallest = ascend ? steps.front() : -steps.back();
  const bool are_multiples =
      std::ranges::all_of(steps, [&](__int128 step) { return step % smallest == 0; });
  for (const __int128 step : steps) {
    const __int128 stride = step < 0 ? -step : step;
    if (stride == smallest || !are_multiples) {
      digits.push_back({.stride = stride, .most = way / stride});
    }
  }
  return true;
}

// How far the bytes of two accesses may lie apart where they have one in common, for each two of
// them. A pair and its reverse differ by the sign of all digits.
std::vector<Interval> meetings_of(std::span<const Footprint> footprints) {
  std::vector<Interval> meetings;
  for (std::size_t i = 0; i < footprints.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      const __int128 apart =
          __int128{footprints[j].address.constant} - footprints[i].address.constant;
      meetings.push_back(
          {.low = apart - footprints[i].bytes + 1, .high = apart + footprints[j].bytes - 1});
    }
  }
  std::ranges::sort(meetings, [](const Interval& one, const Interval& other) {
    return one.low != other.low ? one.low < other.low : one.high < other.high;
  });
  const auto repeated = std::ranges::unique(meetings);
  meetings.erase(repeated.begin(), repeated.end());
  return meetings;
}

}  // namespace

bool are_disjoint(std::span<const Footprint> footprints, const PartExtents& extents,
                  const MemoryRange& range, std::span<const IndexBound> bounds) {
  if (footprints.empty()) {
    return true;
  }
  const AffineAddress& first = footprints.front().address;
  auto digits = digits_of_threads(first, bounds, extents);
  const Interval span = span_of(footprints, extents);
  if (!digits || span.low < -kFar || span.high > kFar ||
      !std::ranges::all_of(footprints, [&](const Footprint& footprint) {
        return footprint.address.factors == first.factors;
      })) {
    return false;
  }
  if (!add_rounds(*digits, footprints, span, range)) {
    return false;
  }
  DigitSearch search(std::move(*digits));
  return std::ranges::none_of(meetings_of(footprints),
                              [&](const Interval& meeting) { return search.may_find(meeting); });
}

}  // namespace barracuda::session

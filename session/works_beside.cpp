#include "session/works_beside.h"

#include <algorithm>
#include <utility>

namespace barracuda::session {
namespace {

using detector::WorkId;

// As many are looked through at each launch of a program of several streams.
constexpr std::size_t kMostWorks = 64;
// More than a program does that shows a mistake and ends: of what it does after so many the first
// race between streams is only said to have been missed.
constexpr std::uint64_t kLongApart = 32, kLongApartIfLarge = 2;
constexpr std::uint64_t kManyThreads = std::uint64_t{1} << 19;  // a second or more of logging

bool are_same(const std::optional<MemoryRanges>& some, const std::optional<MemoryRanges>& others) {
  return some.has_value() == others.has_value() && (!some || are_equal(*some, *others));
}

bool writes_into(const TouchedMemory& writer, const TouchedMemory& other) {
  return !writer.written || may_overlap(*writer.written, other.accessed);
}

}  // namespace

bool TouchedMemory::conflicts_with(const TouchedMemory& other) const {
  return writes_into(*this, other) || writes_into(other, *this);
}

bool TouchedMemory::has_same(const TouchedMemory& other) const {
  return are_same(written, other.written) && are_same(accessed, other.accessed);
}

// Copies that follow each other in a stream share a number.
bool WorksBeside::is_before(WorkId first, WorkId second) const {
  return first == second || streams_.is_before(first, second);
}

bool WorksBeside::add(WorkId work, TouchedMemory touched) {
  if (has_lost_some_ && streams_.is_after_all(work)) {
    add_after_all(work);
  }
  bool is_apart = !has_lost_some_ && (anything_ == WorkId{} || is_before(anything_, work));
  bool is_beside = false;
  for (const Work& other : works_) {
    if (!is_before(other.id, work)) {
      is_beside = true;
      is_apart = is_apart && !touched.conflicts_with(other.touched);
    }
  }
  keep(work, std::move(touched));
  count(is_apart, is_beside);
  return is_apart;
}

// What is after the newer of two that follow each other is after both. What is not may be after the
// older one: it then counts as beside both.
void WorksBeside::keep(WorkId work, TouchedMemory touched) {
  const auto older = std::ranges::find_if(works_, [&](const Work& other) {
    return is_before(other.id, work) && other.touched.has_same(touched);
  });
  if (older != works_.end()) {
    older->id = work;
    return;
  }
  if (works_.size() == kMostWorks) {
    std::erase_if(works_, [&](const Work& other) { return streams_.host_waited_for(other.id); });
  }
  if (works_.size() < kMostWorks) {
    works_.push_back({.id = work, .touched = std::move(touched)});
  } else if (streams_.is_after_all(work)) {
    add_after_all(work);
  } else {
    works_.clear();
    has_lost_some_ = true;
  }
}

void WorksBeside::add_after_all(WorkId work) {
  works_.clear();
  anything_ = work;
  has_lost_some_ = false;
}

void WorksBeside::count(bool is_apart, bool is_beside) {
  if (const std::uint64_t created = streams_.streams_created(); created != streams_created_) {
    streams_created_ = created;
    apart_ = 0;
  }
  apart_ = !is_apart ? 0 : is_beside ? apart_ + 1 : apart_;
}

bool WorksBeside::are_apart_for_long(std::uint64_t threads) const {
  return apart_ >= (threads < kManyThreads ? kLongApart : kLongApartIfLarge) &&
         streams_created_ == streams_.streams_created();
}

}  // namespace barracuda::session

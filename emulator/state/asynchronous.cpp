#include "emulator/state/asynchronous.h"

#include <bit>
#include <cstring>

#include "base/assert.h"
#include "emulator/state/mbarrier.h"

namespace barracuda::emulator {

void Movement::perform() const {
  DEBUG_ASSERT(from != nullptr || bytes <= value.size());
  DEBUG_ASSERT(reduction == nullptr || (element_bytes != 0 && bytes % element_bytes == 0));
  const std::byte* source = from == nullptr ? value.data() : from;
  if (reduction != nullptr) {
    for (std::uint32_t done = 0; done < bytes; done += element_bytes) {
      reduction(to + done, source + done);
    }
    return;
  }
  std::memcpy(to, source, bytes);
  std::memset(to + bytes, 0, zeros);
}

void CopyQueue::add(std::uint32_t lane, const Movement& movement) {
  DEBUG_ASSERT(lane < kLanes && movement.to != nullptr);
  entries_.push_back(Entry{.mask = std::uint32_t{1} << lane, .movement = movement});
}

void CopyQueue::add_arrival(std::uint32_t lane, std::uint64_t* mbarrier) {
  ASSERT(lane < kLanes && mbarrier != nullptr);
  entries_.push_back(Entry{.kind = Kind::kArrival,
                           .mask = std::uint32_t{1} << lane,
                           .movement = {},
                           .mbarrier = mbarrier});
}

void CopyQueue::end_group(std::uint32_t mask) {
  entries_.push_back(Entry{.kind = Kind::kGroupEnd, .mask = mask, .movement = {}});
}

void CopyQueue::complete_before(const std::array<std::size_t, kLanes>& ends) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    Entry& entry = entries_[i];
    for (const std::size_t lane : SetBits<std::size_t>(entry.mask)) {
      if (i >= ends[lane]) {
        continue;
      }
      entry.mask &= ~(std::uint32_t{1} << lane);
      if (entry.kind == Kind::kMovement) {
        entry.movement.perform();
      } else if (entry.kind == Kind::kArrival) {
        change_mbarrier(entry.mbarrier, {.arrivals = 1});
      }
    }
    if (entry.mask != 0) {
      if (kept != i) {
        entries_[kept] = entry;
      }
      ++kept;
    }
  }
  entries_.resize(kept);
}

void CopyQueue::complete_groups(std::uint32_t mask, std::uint32_t groups) {
  std::array<std::size_t, kLanes> ends{};
  std::array<std::uint32_t, kLanes> seen{};
  for (std::size_t i = entries_.size(); i-- > 0;) {
    const Entry& entry = entries_[i];
    if (entry.kind != Kind::kGroupEnd) {
      continue;
    }
    for (const std::size_t lane : SetBits<std::size_t>(entry.mask & mask)) {
      if (seen[lane]++ == groups) {
        ends[lane] = i + 1;
      }
    }
  }
  complete_before(ends);
}

void CopyQueue::complete_all(std::uint32_t mask) {
  std::array<std::size_t, kLanes> ends{};
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    ends[static_cast<std::size_t>(std::countr_zero(rest))] = entries_.size();
  }
  complete_before(ends);
}

void CopyQueue::complete_for(const std::uint64_t* mbarrier) {
  std::array<std::size_t, kLanes> ends{};
  bool any = false;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    if (entry.kind == Kind::kArrival && entry.mbarrier == mbarrier) {
      ends[static_cast<std::size_t>(std::countr_zero(entry.mask))] = i + 1;
      any = true;
    }
  }
  if (any) {
    complete_before(ends);
  }
}

void CopyQueue::forget() {
  entries_.clear();
}

}  // namespace barracuda::emulator

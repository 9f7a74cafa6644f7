#include "session/allocation_table.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/assert.h"
#include "base/held_lock.h"

namespace barracuda::session {
namespace {

constexpr std::size_t kMaximumFreed = 4096;

}  // namespace

bool AllocationTable::is_valid() const {
  return freed_.size() <= kMaximumFreed &&
         std::ranges::all_of(live_,
                             [](const auto& each) {
                               return each.first == each.second.address && each.second.bytes != 0 &&
                                      !each.second.freed;
                             }) &&
         std::ranges::all_of(freed_, &report::AllocationRecord::freed);
}

void AllocationTable::add(std::uint64_t address, std::uint64_t bytes,
                          const std::string& description) {
  if (address == 0 || bytes == 0) {
    return;
  }
  const HeldLock lock(mutex_);
  live_[address] = {.address = address, .bytes = bytes, .description = description, .freed = false};
  variables_.erase(address);
  DEBUG_ASSERT(is_valid());
}

void AllocationTable::add_variable(std::uint64_t address, std::uint64_t bytes,
                                   const std::string& description) {
  add(address, bytes, description);
  const HeldLock lock(mutex_);
  variables_.insert(address);
}

std::optional<MemoryRange> AllocationTable::allocation_with(std::uint64_t address) const {
  const HeldLock lock(mutex_);
  const auto behind = live_.upper_bound(address);
  if (behind == live_.begin()) {
    return std::nullopt;
  }
  const auto& [begin, record] = *std::prev(behind);
  if (address - begin >= record.bytes || variables_.contains(begin)) {
    return std::nullopt;
  }
  return MemoryRange{.address = begin, .bytes = record.bytes};
}

std::optional<MemoryRange> AllocationTable::find(std::uint64_t address) const {
  const HeldLock lock(mutex_);
  const auto found = live_.find(address);
  if (found == live_.end()) {
    return std::nullopt;
  }
  return MemoryRange{.address = found->second.address, .bytes = found->second.bytes};
}

void AllocationTable::remove(std::uint64_t address) {
  const HeldLock lock(mutex_);
  const auto found = live_.find(address);
  if (found == live_.end()) {
    return;
  }
  found->second.freed = true;
  freed_.push_back(std::move(found->second));
  live_.erase(found);
  variables_.erase(address);
  if (freed_.size() > kMaximumFreed) {
    freed_.pop_front();
  }
  DEBUG_ASSERT(is_valid());
}

void AllocationTable::remove(std::uint64_t address, detector::CopyId free) {
  if (const auto range = find(address)) {
    take_frees(*range);
    const HeldLock lock(mutex_);
    stream_frees_[address] = {.end = address + range->bytes, .by = free};
  }
  remove(address);
}

std::vector<detector::CopyId> AllocationTable::take_frees(const MemoryRange& range) {
  const HeldLock lock(mutex_);
  const std::uint64_t end = range.address + range.bytes;
  std::vector<detector::CopyId> taken;
  auto each = stream_frees_.lower_bound(range.address);
  if (each != stream_frees_.begin() && std::prev(each)->second.end > range.address) {
    --each;
  }
  while (each != stream_frees_.end() && each->first < end) {
    const auto [begin, free] = *each;
    taken.push_back(free.by);
    each = stream_frees_.erase(each);
    if (begin < range.address) {
      stream_frees_[begin] = {.end = range.address, .by = free.by};
    }
    if (free.end > end) {
      stream_frees_[end] = free;
    }
  }
  return taken;
}

std::vector<report::AllocationRecord> AllocationTable::records() const {
  const HeldLock lock(mutex_);
  std::vector<report::AllocationRecord> records(freed_.begin(), freed_.end());
  for (const auto& [address, record] : live_) {
    records.push_back(record);
  }
  return records;
}

}  // namespace barracuda::session

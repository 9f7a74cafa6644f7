#include "session/allocation_table.h"

#include <utility>

namespace barracuda::session {
namespace {

constexpr std::size_t kMaximumFreed = 4096;

}  // namespace

void AllocationTable::add(std::uint64_t address, std::uint64_t bytes,
                          const std::string& description) {
  if (address == 0 || bytes == 0) {
    return;
  }
  const std::lock_guard lock(mutex_);
  live_[address] = {.address = address, .bytes = bytes, .description = description, .freed = false};
}

std::optional<MemoryRange> AllocationTable::find(std::uint64_t address) const {
  const std::lock_guard lock(mutex_);
  const auto found = live_.find(address);
  if (found == live_.end()) {
    return std::nullopt;
  }
  return MemoryRange{found->second.address, found->second.bytes};
}

void AllocationTable::remove(std::uint64_t address) {
  const std::lock_guard lock(mutex_);
  const auto found = live_.find(address);
  if (found == live_.end()) {
    return;
  }
  found->second.freed = true;
  freed_.push_back(std::move(found->second));
  live_.erase(found);
  if (freed_.size() > kMaximumFreed) {
    freed_.pop_front();
  }
}

std::vector<report::AllocationRecord> AllocationTable::records() const {
  const std::lock_guard lock(mutex_);
  std::vector<report::AllocationRecord> records(freed_.begin(), freed_.end());
  for (const auto& [address, record] : live_) {
    records.push_back(record);
  }
  return records;
}

}  // namespace barracuda::session

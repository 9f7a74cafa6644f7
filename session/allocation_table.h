// The program's allocations, live and freed, so that a finding can say what it fell into.
// Thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "report/run_data.h"
#include "session/device_driver.h"

namespace barracuda::session {

class AllocationTable {
 public:
  // A new allocation replaces what is known of its bytes.
  void add(std::uint64_t address, std::uint64_t bytes, const std::string& description);
  // The same for a variable of a module, which kernels reach without a pointer.
  void add_variable(std::uint64_t address, std::uint64_t bytes, const std::string& description);
  // The live allocation, which is no variable, with this byte.
  [[nodiscard]] std::optional<MemoryRange> allocation_with(std::uint64_t address) const;
  // The allocation that starts at `address`, if it is known.
  [[nodiscard]] std::optional<MemoryRange> find(std::uint64_t address) const;
  // It is freed; it stays known as such, for the last few thousand.
  void remove(std::uint64_t address);
  // The same in the order of a stream, by this operation.
  void remove(std::uint64_t address, detector::CopyId free);
  // The operations that freed bytes of the range in the order of streams. Each is returned once:
  // the range has a new owner.
  std::vector<detector::CopyId> take_frees(const MemoryRange& range);
  // Freed ones first, so that a later one with the same address is the newer.
  [[nodiscard]] std::vector<report::AllocationRecord> records() const;

 private:
  // Each live one lies where it is kept.
  [[nodiscard]] bool is_valid() const;

  mutable std::mutex mutex_;
  std::map<std::uint64_t, report::AllocationRecord> live_;
  std::set<std::uint64_t> variables_;  // of live_
  std::deque<report::AllocationRecord> freed_;

  struct StreamFree {
    std::uint64_t end = 0;
    detector::CopyId by{};
  };

  std::map<std::uint64_t, StreamFree> stream_frees_;  // by first byte; none overlaps another
};

}  // namespace barracuda::session

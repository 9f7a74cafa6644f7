// Where the program allocated the memory that findings are in. Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "report/run_data.h"

namespace barracuda::session {

class AllocationPlaces {
 public:
  // In the thread that has just allocated memory at `address`. Takes Python's lock, so no lock of
  // ours may be held.
  void note(std::uint64_t address);
  // Adds the places to the descriptions of the allocations that the findings of `run` are in:
  // "cudaMalloc from main() at app.cu:12". Looks up return addresses, so their modules must still
  // be loaded.
  void describe(report::RunData& run) const;

 private:
  using Stack = std::vector<std::uint64_t>;

  [[nodiscard]] const Stack* stack_of(std::uint64_t address) const;
  [[nodiscard]] std::string place_of(const Stack& stack) const;

  mutable std::mutex mutex_;
  std::set<Stack> stacks_;                            // never taken away: the map points into it
  std::map<std::uint64_t, const Stack*> by_address_;  // of the newest allocation there
  std::uint64_t stacks_taken_ = 0;
  mutable std::map<const Stack*, std::string> places_;
};

}  // namespace barracuda::session

// What was stored lately, by granule, for loads that return what they would have returned earlier.
// Time is counted in moments: each store that becomes visible to anybody is one.
#pragma once

#include <cstdint>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "emulator/state/store_buffer.h"

namespace barracuda::emulator {

// A change of memory.
struct Commit {
  std::uint64_t visible = 0;      // to all, from this moment on
  std::uint64_t visible_own = 0;  // to the threads of its block
  std::uint64_t block = 0;
  std::uint16_t mask = 0;  // the bytes that it changed
  Granule before{};
};

class CommitHistory {
 public:
  // Copies and the host change memory without an entry here, which is harmless: where there is
  // none, a load returns what memory holds.
  void add(std::uint64_t granule, const Commit& commit);
  // Memory that goes, since its addresses come again.
  void forget(std::uint64_t begin, std::uint64_t end);

  [[nodiscard]] bool knows(std::uint64_t granule) const { return granules_.contains(granule); }

  // The earliest moment for which the value of the granule is still known.
  [[nodiscard]] std::uint64_t begin(std::uint64_t granule) const;
  // `bytes`, which are those of memory, as a thread of that block saw them at that moment.
  void turn_back(std::uint64_t granule, std::uint64_t block, std::uint64_t moment,
                 Granule& bytes) const;

 private:
  struct Past {
    std::uint64_t begin = 0;
    std::vector<Commit> commits;
  };

  boost::unordered_flat_map<std::uint64_t, Past> granules_;
  std::uint64_t begin_ = 0;
};

}  // namespace barracuda::emulator

// Whether a launch or a copy has memory in common with what may run beside it: works that their
// streams do not order. Of streams that work on buffers of their own, or on parts of one, it has
// none (docs/decisions/device-filter.md). Not thread-safe: its owner serialises.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "host_detector/copy.h"
#include "session/memory_ranges.h"
#include "session/stream_tracker.h"

namespace barracuda::session {

// What a work may write, and access at all; nothing: any memory.
struct TouchedMemory {
  std::optional<MemoryRanges> written, accessed;

  [[nodiscard]] bool conflicts_with(const TouchedMemory& other) const;
  [[nodiscard]] bool has_same(const TouchedMemory& other) const;
};

class WorksBeside {
 public:
  explicit WorksBeside(const StreamTracker& streams) : streams_(streams) {}

  // The next work that has its place in the order. Whether it comes after each of those before it,
  // or neither of the two writes what the other accesses.
  bool add(detector::WorkId work, TouchedMemory touched);
  // One that comes after all those before it, and of which it is not worth knowing what it touches:
  // what does not come after it is beside anything.
  void add_after_all(detector::WorkId work);

  // A guess that works to come will be as those so far: for some time each was apart, and no stream
  // was created. For a launch of many threads, which is no example of a mistake, a short time does.
  [[nodiscard]] bool are_apart_for_long(std::uint64_t threads) const;

 private:
  struct Work {
    detector::WorkId id;
    TouchedMemory touched;
  };

  [[nodiscard]] bool is_before(detector::WorkId first, detector::WorkId second) const;
  void keep(detector::WorkId work, TouchedMemory touched);
  void count(bool is_apart, bool is_beside);

  const StreamTracker& streams_;
  std::vector<Work> works_;     // the newest of those that touch the same and follow each other
  detector::WorkId anything_;   // of these the newest may have touched anything
  bool has_lost_some_ = false;  // there were more at a time than are kept
  std::uint64_t apart_ = 0;     // works beside others since one was not
  std::uint64_t streams_created_ = 0;
};

}  // namespace barracuda::session

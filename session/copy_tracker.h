// Copies, memsets, allocations and frees in the order of streams, and what launches read of
// constants. Thread-safe.
#pragma once

#include <span>
#include <vector>

#include "host_detector/pipeline.h"
#include "session/copy_request.h"
#include "session/launches_in_flight.h"
#include "session/problems.h"
#include "session/run_books.h"
#include "session/stream_tracker.h"

namespace barracuda::session {

class CopyTracker {
 public:
  CopyTracker(detector::Pipeline& pipeline, StreamTracker& streams, RunBooks& books,
              LaunchesInFlight& in_flight, Problems& problems)
      : pipeline_(pipeline),
        streams_(streams),
        books_(books),
        in_flight_(in_flight),
        problems_(problems) {}

  // The driver has taken this copy. Not for one that a capture recorded.
  void copied(const CopyRequest& copy);
  // Memory is about to be freed, or was allocated, in the order of a stream; the bytes that it got
  // were freed by these. 0: not known to the detector.
  detector::CopyId freed(const MemoryRange& range, Handle stream);
  void allocated(const MemoryRange& range, Handle stream, std::vector<detector::CopyId> freed_by);

  // Puts what a launch may read just before it. The lock of those in flight is held.
  void read_constants(std::span<const MemoryRange> constants, detector::StreamKey stream);
  // Of this call, without a place in the order.
  detector::CopyInfo open(const CopyRequest& copy, detector::StreamKey stream);

 private:
  // Puts it into its stream. The lock of those in flight is held.
  detector::CopyId begin(detector::CopyInfo info, detector::StreamKey stream);

  detector::Pipeline& pipeline_;
  StreamTracker& streams_;
  RunBooks& books_;
  LaunchesInFlight& in_flight_;
  Problems& problems_;
};

}  // namespace barracuda::session

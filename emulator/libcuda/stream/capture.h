// Stream capture: work submitted to a stream becomes nodes of a graph instead. An event recorded
// in a captured stream carries the place in the graph to the streams that wait for it.
#pragma once

#include <memory>
#include <vector>

#include "emulator/libcuda/context/context.h"
#include "emulator/libcuda/stream/work.h"

namespace barracuda::emulator::driver {

struct Capture;
struct GraphNode;
struct Stream;

// A place in a captured stream: what the next work depends on.
struct CapturePoint {
  std::shared_ptr<Capture> capture;  // null: none
  std::vector<GraphNode*> after;
};

// The work as a node after what the stream has captured. The stream is being captured.
CUresult capture(Stream& stream, Work work);
// Where a captured stream is now.
CUresult capture_point(Stream& stream, CapturePoint& point);
// The stream waits for the point, and is captured from now on if it was not. A point whose capture
// has ended is none.
CUresult wait_for(Stream& stream, const CapturePoint& point);

// Work that cannot be captured ends the capture without a graph. Returns what such a call answers.
CUresult spoil_capture(Stream& stream, CUresult status);
// Work of the legacy stream waits for every blocking stream, which a captured one cannot do.
CUresult check_legacy_stream();
// Waiting for the whole context.
CUresult check_context_wait();
// A call that may wait implicitly, as cuMemAlloc does, for who has not relaxed its thread's mode.
CUresult check_unsafe_call();
// The stream is destroyed: a capture that began in it is over, one that it only took part in goes
// on.
void forget_captured(Stream& stream);

}  // namespace barracuda::emulator::driver

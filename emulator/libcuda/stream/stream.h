// Streams: a name for work that runs in the order of its submission, and for the legacy default
// stream also after that of every blocking stream, and before what comes there later. The work is
// in the queue (queue.h).
#pragma once

#include <memory>

#include "emulator/libcuda/context/context.h"
#include "emulator/libcuda/handle_table.h"
#include "emulator/libcuda/stream/capture.h"

namespace barracuda::emulator::driver {

struct Stream {
  Context* context = nullptr;
  unsigned flags = CU_STREAM_DEFAULT;
  int priority = 0;
  std::uint64_t id = 0;

  // Of its capture, and what the program may be told of it. Capture's own.
  std::atomic<bool> is_capturing{false};
  CapturePoint point{};
  std::vector<CUgraphNode> after_handles;
  std::vector<CUgraphEdgeData> after_edges;
};

// Null for a handle that is neither a live stream nor one of the default streams.
std::shared_ptr<Stream> find_stream(CUstream handle);
bool is_legacy(const Stream& stream);

// Whether work can be put into it: a context is current, it has not failed, the stream exists and
// is not being captured.
CUresult find_for_work(CUstream handle, std::shared_ptr<Stream>& stream);

// Waits for everything that was submitted.
void finish_all_streams();
void release_streams(const Context& context);

}  // namespace barracuda::emulator::driver

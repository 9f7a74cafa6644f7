// Streams. Work runs on the calling thread, at the call; a stream only says what may not run at the
// same time when several threads submit: work of one stream, and work of the legacy default stream
// beside that of any blocking stream.
#pragma once

#include <memory>
#include <mutex>
#include <shared_mutex>

#include "emulator/libcuda/context/context.h"
#include "emulator/libcuda/handle_table.h"
#include "emulator/libcuda/stream/capture.h"

namespace barracuda::emulator::driver {

struct Stream {
  Context* context = nullptr;
  unsigned flags = CU_STREAM_DEFAULT;
  int priority = 0;
  std::uint64_t id = 0;
  std::mutex running;

  // Of its capture, and what the program may be told of it. Capture's own.
  std::atomic<bool> is_capturing{false};
  CapturePoint point{};
  std::vector<CUgraphNode> after_handles;
  std::vector<CUgraphEdgeData> after_edges;
};

// Null for a handle that is neither a live stream nor one of the default streams.
std::shared_ptr<Stream> find_stream(CUstream handle);
bool is_legacy(const Stream& stream);

// Held while work of a stream runs. `status` says whether it may run: a context is current, it has
// not failed, the stream exists and is not being captured.
class StreamTurn {
 public:
  explicit StreamTurn(CUstream handle);
  ~StreamTurn();
  StreamTurn(const StreamTurn&) = delete;
  StreamTurn& operator=(const StreamTurn&) = delete;
  StreamTurn(StreamTurn&&) = delete;
  StreamTurn& operator=(StreamTurn&&) = delete;

  [[nodiscard]] CUresult status() const { return status_; }

 private:
  CUresult status_ = CUDA_SUCCESS;
  std::shared_ptr<Stream> stream_;
  std::shared_lock<std::shared_mutex> in_flight_;
  std::shared_lock<std::shared_mutex> beside_legacy_;
  std::unique_lock<std::shared_mutex> legacy_;
  std::unique_lock<std::mutex> own_;
};

// Waits for what other threads are running.
void finish_all_streams();
void release_streams(const Context& context);

}  // namespace barracuda::emulator::driver

#include "emulator/libcuda/stream/capture.h"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <set>
#include <span>
#include <thread>

#include "base/early_return.h"
#include "emulator/libcuda/graph/graph.h"
#include "emulator/libcuda/stream/stream.h"

namespace barracuda::emulator::driver {

struct Capture {
  std::uint64_t id = 0;
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  std::thread::id thread = std::this_thread::get_id();
  Context* context = nullptr;
  std::shared_ptr<Graph> graph;
  bool is_of_program = false;  // the graph is: capture goes on in it
  bool is_active = true;
  bool is_spoiled = false;
  Stream* origin = nullptr;
  std::set<Stream*> streams;                  // the origin too
  std::vector<GraphNode*> ends_of_destroyed;  // the last nodes of streams that are no more
};

namespace {

struct Captures {
  std::recursive_mutex mutex;
  std::set<std::shared_ptr<Capture>> active;
  std::atomic<std::size_t> count{0};
  std::uint64_t next_id = 1;
};

Captures& captures() {
  static auto* const instance = new Captures;
  return *instance;
}

constinit thread_local CUstreamCaptureMode t_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

void set_after(Stream& stream, std::vector<GraphNode*> after) {
  stream.point.after = std::move(after);
  stream.after_handles.clear();
  for (GraphNode* const node : stream.point.after) {
    stream.after_handles.push_back(node->handle());
  }
  stream.after_edges.assign(stream.after_handles.size(), CUgraphEdgeData{});
}

void join(Stream& stream, const std::shared_ptr<Capture>& to) {
  stream.point.capture = to;
  stream.is_capturing = true;
  to->streams.insert(&stream);
}

void leave(Stream& stream) {
  stream.is_capturing = false;
  stream.point.capture = nullptr;
  set_after(stream, {});
}

void end(const std::shared_ptr<Capture>& ended) {
  Captures& all = captures();
  ended->is_active = false;
  for (Stream* const stream : ended->streams) {
    leave(*stream);
  }
  ended->streams.clear();
  all.active.erase(ended);
  all.count = all.active.size();
}

bool is_spoiled(const Stream& stream) {
  return stream.point.capture->is_spoiled;
}

// Spoils each active capture that the rule concerns.
template <typename Rule>
CUresult check_all(CUresult status, const Rule& rule) {
  Captures& all = captures();
  if (all.count == 0) {
    return CUDA_SUCCESS;
  }
  const std::lock_guard lock(all.mutex);
  CUresult answer = CUDA_SUCCESS;
  for (const std::shared_ptr<Capture>& active : all.active) {
    if (rule(*active)) {
      active->is_spoiled = true;
      answer = status;
    }
  }
  return answer;
}

// Whether all that the other streams have captured lies before what the origin waits for.
bool is_joined(const Capture& checked) {
  std::set<const GraphNode*> before;
  std::vector<GraphNode*> open = checked.origin->point.after;
  while (!open.empty()) {
    GraphNode* const node = open.back();
    open.pop_back();
    if (before.insert(node).second) {
      for (const GraphEdge& edge : node->dependencies) {
        open.push_back(edge.from);
      }
    }
  }
  const auto are_before = [&](const std::vector<GraphNode*>& nodes) {
    return std::ranges::all_of(nodes, [&](const GraphNode* node) { return before.contains(node); });
  };
  return are_before(checked.ends_of_destroyed) &&
         std::ranges::all_of(checked.streams,
                             [&](const Stream* stream) { return are_before(stream->point.after); });
}

CUresult begin(CUstream handle, CUstreamCaptureMode mode, std::shared_ptr<Graph> graph,
               std::vector<GraphNode*> after) {
  RETURN_IF_FAILED(require_context());
  const std::shared_ptr<Stream> stream = find_stream(handle);
  RETURN_IF(stream == nullptr, CUDA_ERROR_INVALID_HANDLE);
  RETURN_IF(mode < CU_STREAM_CAPTURE_MODE_GLOBAL || mode > CU_STREAM_CAPTURE_MODE_RELAXED,
            CUDA_ERROR_INVALID_VALUE);
  RETURN_IF(is_legacy(*stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  Captures& all = captures();
  const std::lock_guard lock(all.mutex);
  RETURN_IF(stream->is_capturing, CUDA_ERROR_ILLEGAL_STATE);
  auto begun = std::make_shared<Capture>();
  begun->id = all.next_id++;
  begun->mode = mode;
  begun->context = current_context();
  begun->is_of_program = graph != nullptr;
  begun->graph = graph == nullptr ? Graph::make() : std::move(graph);
  begun->origin = stream.get();
  join(*stream, begun);
  set_after(*stream, std::move(after));
  all.active.insert(std::move(begun));
  all.count = all.active.size();
  return CUDA_SUCCESS;
}

std::vector<GraphNode*> nodes_of(const std::vector<GraphEdge>& edges) {
  std::vector<GraphNode*> nodes;
  for (const GraphEdge& edge : edges) {
    nodes.push_back(edge.from);
  }
  return nodes;
}

template <typename Value>
void answer(Value* to, Value value) {
  if (to != nullptr) {
    *to = value;
  }
}

}  // namespace

CUresult capture(Stream& stream, Work work) {
  const std::lock_guard lock(captures().mutex);
  RETURN_IF(is_spoiled(stream), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  RETURN_IF_FAILED(check(work));
  std::vector<GraphEdge> edges;
  for (GraphNode* const node : stream.point.after) {
    edges.push_back({.from = node});
  }
  set_after(stream, {&stream.point.capture->graph->add(std::move(work), std::move(edges))});
  return CUDA_SUCCESS;
}

CUresult capture_point(Stream& stream, CapturePoint& point) {
  const std::lock_guard lock(captures().mutex);
  RETURN_IF(is_spoiled(stream), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  point = stream.point;
  return CUDA_SUCCESS;
}

CUresult wait_for(Stream& stream, const CapturePoint& point) {
  const std::lock_guard lock(captures().mutex);
  if (point.capture == nullptr || !point.capture->is_active) {
    return stream.is_capturing ? spoil_capture(stream, CUDA_ERROR_STREAM_CAPTURE_ISOLATION)
                               : CUDA_SUCCESS;
  }
  RETURN_IF(point.capture->is_spoiled, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  if (is_legacy(stream)) {
    point.capture->is_spoiled = true;
    return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  }
  if (!stream.is_capturing) {
    join(stream, point.capture);
  } else if (stream.point.capture != point.capture) {
    point.capture->is_spoiled = true;
    return spoil_capture(stream, CUDA_ERROR_STREAM_CAPTURE_MERGE);
  }
  std::vector<GraphNode*> after = stream.point.after;
  for (GraphNode* const node : point.after) {
    if (!std::ranges::count(after, node)) {
      after.push_back(node);
    }
  }
  set_after(stream, std::move(after));
  return CUDA_SUCCESS;
}

CUresult spoil_capture(Stream& stream, CUresult status) {
  const std::lock_guard lock(captures().mutex);
  if (!stream.is_capturing) {
    return status;
  }
  const bool was_spoiled = is_spoiled(stream);
  stream.point.capture->is_spoiled = true;
  return was_spoiled ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : status;
}

CUresult check_legacy_stream() {
  return check_all(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, [](const Capture& active) {
    return active.context == current_context() &&
           std::ranges::any_of(active.streams, [](const Stream* stream) {
             return (stream->flags & CU_STREAM_NON_BLOCKING) == 0;
           });
  });
}

CUresult check_context_wait() {
  return check_all(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                   [](const Capture& active) { return active.context == current_context(); });
}

CUresult check_unsafe_call() {
  if (t_mode == CU_STREAM_CAPTURE_MODE_RELAXED) {
    return CUDA_SUCCESS;
  }
  return check_all(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, [](const Capture& active) {
    if (active.thread == std::this_thread::get_id()) {
      return active.mode != CU_STREAM_CAPTURE_MODE_RELAXED;
    }
    return t_mode == CU_STREAM_CAPTURE_MODE_GLOBAL && active.mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
  });
}

void forget_captured(Stream& stream) {
  const std::lock_guard lock(captures().mutex);
  const std::shared_ptr<Capture> capture = stream.point.capture;
  if (capture == nullptr) {
    return;
  }
  if (capture->origin == &stream) {
    capture->is_spoiled = true;
    end(capture);
    return;
  }
  std::ranges::copy(stream.point.after, std::back_inserter(capture->ends_of_destroyed));
  capture->streams.erase(&stream);
  leave(stream);
}

CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode) {
  return begin(stream, mode, nullptr, {});
}

CUresult cuStreamBeginCaptureToGraph(CUstream stream, CUgraph handle, const CUgraphNode* after,
                                     const CUgraphEdgeData* edges, std::size_t count,
                                     CUstreamCaptureMode mode) {
  std::shared_ptr<Graph> graph = find_graph(handle);
  RETURN_IF(graph == nullptr || (after == nullptr && count != 0), CUDA_ERROR_INVALID_VALUE);
  const auto dependencies = edges_from(*graph, std::span(after, count), edges);
  return dependencies ? begin(stream, mode, std::move(graph), nodes_of(*dependencies))
                      : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuStreamEndCapture(CUstream handle, CUgraph* result) {
  RETURN_IF_FAILED(require_context());
  const std::shared_ptr<Stream> stream = find_stream(handle);
  RETURN_IF(stream == nullptr, CUDA_ERROR_INVALID_HANDLE);
  const std::lock_guard lock(captures().mutex);
  answer(result, CUgraph{nullptr});
  RETURN_IF(!stream->is_capturing, CUDA_ERROR_ILLEGAL_STATE);
  const std::shared_ptr<Capture> ended = stream->point.capture;
  if (ended->origin != stream.get()) {
    ended->is_spoiled = true;
    return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
  }
  RETURN_IF(
      ended->mode != CU_STREAM_CAPTURE_MODE_RELAXED && ended->thread != std::this_thread::get_id(),
      CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
  const bool joined = is_joined(*ended);
  end(ended);
  RETURN_IF(ended->is_spoiled, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  RETURN_IF(!joined, CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
  if (result != nullptr) {
    *result = ended->is_of_program ? ended->graph->handle() : give_to_program(ended->graph);
  }
  return CUDA_SUCCESS;
}

CUresult cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus* result) {
  RETURN_IF_FAILED(require_context());
  const std::shared_ptr<Stream> stream = find_stream(handle);
  RETURN_IF(stream == nullptr, CUDA_ERROR_INVALID_HANDLE);
  RETURN_IF(result == nullptr, CUDA_ERROR_INVALID_VALUE);
  *result = CU_STREAM_CAPTURE_STATUS_NONE;
  if (stream->is_capturing) {
    const std::lock_guard lock(captures().mutex);
    *result = is_spoiled(*stream) ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                  : CU_STREAM_CAPTURE_STATUS_ACTIVE;
  }
  return CUDA_SUCCESS;
}

// The other results are set only while a capture is active.
CUresult cuStreamGetCaptureInfo_v3(CUstream handle, CUstreamCaptureStatus* is_capturing,
                                   cuuint64_t* id, CUgraph* graph, const CUgraphNode** nodes,
                                   const CUgraphEdgeData** edges, std::size_t* count) {
  if (const CUresult status = driver::cuStreamIsCapturing(handle, is_capturing);
      status != CUDA_SUCCESS || *is_capturing != CU_STREAM_CAPTURE_STATUS_ACTIVE) {
    return status;
  }
  const std::shared_ptr<Stream> stream = find_stream(handle);
  const std::lock_guard lock(captures().mutex);
  answer(id, cuuint64_t{stream->point.capture->id});
  answer(graph, stream->point.capture->graph->handle());
  answer(nodes, static_cast<const CUgraphNode*>(stream->after_handles.data()));
  answer(edges, static_cast<const CUgraphEdgeData*>(stream->after_edges.data()));
  answer(count, stream->after_handles.size());
  return CUDA_SUCCESS;
}

CUresult cuStreamUpdateCaptureDependencies_v2(CUstream handle, CUgraphNode* nodes,
                                              const CUgraphEdgeData* edges, std::size_t count,
                                              unsigned flags) {
  const std::shared_ptr<Stream> stream = find_stream(handle);
  RETURN_IF(stream == nullptr, CUDA_ERROR_INVALID_HANDLE);
  const std::lock_guard lock(captures().mutex);
  RETURN_IF(!stream->is_capturing, CUDA_ERROR_ILLEGAL_STATE);
  RETURN_IF((nodes == nullptr && count != 0) || flags > CU_STREAM_SET_CAPTURE_DEPENDENCIES,
            CUDA_ERROR_INVALID_VALUE);
  const auto given =
      edges_from(*stream->point.capture->graph, std::span<const CUgraphNode>(nodes, count), edges);
  RETURN_IF(!given, CUDA_ERROR_INVALID_VALUE);
  std::vector<GraphNode*> after;
  if (flags == CU_STREAM_ADD_CAPTURE_DEPENDENCIES) {
    after = stream->point.after;
  }
  for (GraphNode* const node : nodes_of(*given)) {
    after.push_back(node);
  }
  set_after(*stream, std::move(after));
  return CUDA_SUCCESS;
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  RETURN_IF(mode == nullptr || *mode < CU_STREAM_CAPTURE_MODE_GLOBAL ||
                *mode > CU_STREAM_CAPTURE_MODE_RELAXED,
            CUDA_ERROR_INVALID_VALUE);
  std::swap(t_mode, *mode);
  return CUDA_SUCCESS;
}

}  // namespace barracuda::emulator::driver

// Stream capture: while one goes on, the tool must not wait for the context, which would end it.
#include "preload/hook.h"

namespace barracuda::preload {
namespace {

template <typename... Arguments>
CUresult begin_capture(const Original<CUresult(Arguments...)>& original, Arguments... arguments) {
  const HookScope scope;
  const CUresult status = original(arguments...);
  if (status == CUDA_SUCCESS) {
    scope.run([](session::Session& session) { session.capture_began(); });
  }
  return status;
}

// However it ends, it is over.
CUresult end_capture(const Original<decltype(stream_end_capture)>& original, CUstream stream,
                     CUgraph* graph) {
  const HookScope scope;
  bool was_capturing = false;
  scope.run([&](session::Session& session) {
    was_capturing = session.driver().stream_is_capturing(handle_of(stream));
  });
  const CUresult status = original(stream, graph);
  if (status == CUDA_SUCCESS || was_capturing) {
    scope.run([](session::Session& session) { session.capture_ended(); });
  }
  return status;
}

}  // namespace

CUresult stream_begin_capture(CUstream stream) {
  static const OriginalOf<&stream_begin_capture> original;
  return begin_capture(original, stream);
}

CUresult stream_begin_capture_ptsz(CUstream stream) {
  static const OriginalOf<&stream_begin_capture_ptsz> original;
  return begin_capture(original, stream);
}

CUresult stream_begin_capture_v2(CUstream stream, CUstreamCaptureMode mode) {
  static const OriginalOf<&stream_begin_capture_v2> original;
  return begin_capture(original, stream, mode);
}

CUresult stream_begin_capture_v2_ptsz(CUstream stream, CUstreamCaptureMode mode) {
  static const OriginalOf<&stream_begin_capture_v2_ptsz> original;
  return begin_capture(original, stream, mode);
}

CUresult stream_begin_capture_to_graph(CUstream stream, CUgraph graph,
                                       const CUgraphNode* dependencies,
                                       const CUgraphEdgeData* edges, std::size_t count,
                                       CUstreamCaptureMode mode) {
  static const OriginalOf<&stream_begin_capture_to_graph> original;
  return begin_capture(original, stream, graph, dependencies, edges, count, mode);
}

CUresult stream_begin_capture_to_graph_ptsz(CUstream stream, CUgraph graph,
                                            const CUgraphNode* dependencies,
                                            const CUgraphEdgeData* edges, std::size_t count,
                                            CUstreamCaptureMode mode) {
  static const OriginalOf<&stream_begin_capture_to_graph_ptsz> original;
  return begin_capture(original, stream, graph, dependencies, edges, count, mode);
}

CUresult stream_end_capture(CUstream stream, CUgraph* graph) {
  static const OriginalOf<&stream_end_capture> original;
  return end_capture(original, stream, graph);
}

CUresult stream_end_capture_ptsz(CUstream stream, CUgraph* graph) {
  static const OriginalOf<&stream_end_capture_ptsz> original;
  return end_capture(original, stream, graph);
}

}  // namespace barracuda::preload

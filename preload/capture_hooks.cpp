// Stream capture: while one goes on, the tool must not wait for the context, which would end it.
#include "preload/hook.h"

namespace barracuda::preload {
namespace {

template <auto Hook, typename... Arguments>
CUresult begin_capture(Arguments... arguments) {
  return call_and_note_success<Hook>(
      [](session::Session& session) { session.contexts().capture_began(); }, arguments...);
}

}  // namespace

CUresult cuStreamBeginCapture(CUstream stream) {
  return begin_capture<&cuStreamBeginCapture>(stream);
}

CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode) {
  return begin_capture<&cuStreamBeginCapture_v2>(stream, mode);
}

CUresult cuStreamBeginCaptureToGraph(CUstream stream, CUgraph graph,
                                     const CUgraphNode* dependencies, const CUgraphEdgeData* edges,
                                     std::size_t count, CUstreamCaptureMode mode) {
  return begin_capture<&cuStreamBeginCaptureToGraph>(stream, graph, dependencies, edges, count,
                                                     mode);
}

// However it ends, it is over.
CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  static const OriginalOf<&cuStreamEndCapture> original;
  const HookScope scope;
  bool was_capturing = false;
  scope.run([&](session::Session& session) {
    was_capturing = session.driver().stream_is_capturing(handle_of(stream));
  });
  const CUresult status = original(stream, graph);
  if (status == CUDA_SUCCESS || was_capturing) {
    scope.run([](session::Session& session) { session.contexts().capture_ended(); });
  }
  return status;
}

}  // namespace barracuda::preload

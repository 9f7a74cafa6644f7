#include "emulator/runtime/driver_calls.h"

// Graphs are the driver's: the same handles.
namespace barracuda::emulator::runtime {
namespace {

static_assert(sizeof(cudaGraphEdgeData) == sizeof(CUgraphEdgeData));

CUgraphEdgeData* edges(cudaGraphEdgeData* data) {
  return reinterpret_cast<CUgraphEdgeData*>(data);
}

const CUgraphEdgeData* edges(const cudaGraphEdgeData* data) {
  return reinterpret_cast<const CUgraphEdgeData*>(data);
}

}  // namespace

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags) {
  return run([&](const DriverCalls& calls) { return calls.cuGraphCreate(graph, flags); });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return run([&](const DriverCalls& calls) { return calls.cuGraphDestroy(graph); });
}

cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t graph) {
  return run([&](const DriverCalls& calls) { return calls.cuGraphClone(clone, graph); });
}

cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* node, cudaGraphNode_t original,
                                     cudaGraph_t clone) {
  return run([&](const DriverCalls& calls) {
    return calls.cuGraphNodeFindInClone(node, original, clone);
  });
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  return run([&](const DriverCalls& calls) {
    return calls.cuGraphNodeGetType(node, reinterpret_cast<CUgraphNodeType*>(type));
  });
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
  return run([&](const DriverCalls& calls) { return calls.cuGraphGetNodes(graph, nodes, count); });
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
  return run(
      [&](const DriverCalls& calls) { return calls.cuGraphGetRootNodes(graph, nodes, count); });
}

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                              cudaGraphEdgeData* data, std::size_t* count) {
  return run([&](const DriverCalls& calls) {
    return calls.cuGraphGetEdges_v2(graph, from, to, edges(data), count);
  });
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                         cudaGraphEdgeData* data, std::size_t* count) {
  return run([&](const DriverCalls& calls) {
    return calls.cuGraphNodeGetDependencies_v2(node, nodes, edges(data), count);
  });
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                           cudaGraphEdgeData* data, std::size_t* count) {
  return run([&](const DriverCalls& calls) {
    return calls.cuGraphNodeGetDependentNodes_v2(node, nodes, edges(data), count);
  });
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                     const cudaGraphNode_t* to, const cudaGraphEdgeData* data,
                                     std::size_t count) {
  return run([&](const DriverCalls& calls) {
    return calls.cuGraphAddDependencies_v2(graph, from, to, edges(data), count);
  });
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                        const cudaGraphNode_t* to, const cudaGraphEdgeData* data,
                                        std::size_t count) {
  return run([&](const DriverCalls& calls) {
    return calls.cuGraphRemoveDependencies_v2(graph, from, to, edges(data), count);
  });
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) {
  return run([&](const DriverCalls& calls) { return calls.cuGraphDestroyNode(node); });
}

cudaError_t cudaUserObjectCreate(cudaUserObject_t* object, void* data, cudaHostFn_t destroy,
                                 unsigned count, unsigned flags) {
  return run([&](const DriverCalls& calls) {
    return calls.cuUserObjectCreate(object, data, destroy, count, flags);
  });
}

cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned count) {
  return run([&](const DriverCalls& calls) { return calls.cuUserObjectRetain(object, count); });
}

cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned count) {
  return run([&](const DriverCalls& calls) { return calls.cuUserObjectRelease(object, count); });
}

cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count,
                                      unsigned flags) {
  return run([&](const DriverCalls& calls) {
    return calls.cuGraphRetainUserObject(graph, object, count, flags);
  });
}

cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count) {
  return run([&](const DriverCalls& calls) {
    return calls.cuGraphReleaseUserObject(graph, object, count);
  });
}

cudaError_t cudaDeviceGraphMemTrim(int device) {
  return run([&](const DriverCalls& calls) { return calls.cuDeviceGraphMemTrim(device); });
}

cudaError_t cudaDeviceGetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute,
                                           void* value) {
  return run([&](const DriverCalls& calls) {
    return calls.cuDeviceGetGraphMemAttribute(device, static_cast<CUgraphMem_attribute>(attribute),
                                              value);
  });
}

cudaError_t cudaDeviceSetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute,
                                           void* value) {
  return run([&](const DriverCalls& calls) {
    return calls.cuDeviceSetGraphMemAttribute(device, static_cast<CUgraphMem_attribute>(attribute),
                                              value);
  });
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return run([&](const DriverCalls& calls) {
    return calls.cuStreamBeginCapture_v2(stream_of(stream), static_cast<CUstreamCaptureMode>(mode));
  });
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                          const cudaGraphNode_t* after,
                                          const cudaGraphEdgeData* data, std::size_t count,
                                          cudaStreamCaptureMode mode) {
  return run([&](const DriverCalls& calls) {
    return calls.cuStreamBeginCaptureToGraph(stream_of(stream), graph, after, edges(data), count,
                                             static_cast<CUstreamCaptureMode>(mode));
  });
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return run(
      [&](const DriverCalls& calls) { return calls.cuStreamEndCapture(stream_of(stream), graph); });
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* nodes,
                                                const cudaGraphEdgeData* data, std::size_t count,
                                                unsigned flags) {
  return run([&](const DriverCalls& calls) {
    return calls.cuStreamUpdateCaptureDependencies_v2(stream_of(stream), nodes, edges(data), count,
                                                      flags);
  });
}

}  // namespace barracuda::emulator::runtime

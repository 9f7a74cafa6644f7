// How libcudart.so.12 and libcudart.so.11.0 differ from libcudart.so.13, whose headers we are built
// with: the signatures and structures that changed, from the headers of CUDA 12.9 and 11.8. What 12
// has, 11.0 has too, unless cuda11 declares it.
#pragma once

#include "emulator/libcudart/driver_calls.h"

namespace barracuda::emulator::runtime {

// Of the one device; 0 if the driver does not say.
int attribute_of(const DriverCalls& calls, cudaDeviceAttr attribute);

namespace cuda12 {

// In 11.0, and in 12 for cudaGetDeviceProperties, the structure ends with
// reservedSharedMemPerBlock.
struct cudaDeviceProp {
#define FIELD(type, name, ...) type name __VA_ARGS__;
#define DROPPED(name, attribute) int name;
#include "emulator/libcudart/device/device_properties.def"
  int reserved[63];
};

struct cudaPointerAttributes {
  cudaMemoryType type;
  int device;
  void* devicePointer;
  void* hostPointer;
};

struct cudaLaunchParams {
  void* func;
  dim3 gridDim;
  dim3 blockDim;
  void** args;
  std::size_t sharedMem;
  cudaStream_t stream;
};

cudaError_t cudaRuntimeGetVersion(int* version);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaGetDeviceProperties_v2(cudaDeviceProp* properties, int device);
cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult* result);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer);
cudaError_t cudaLaunchCooperativeKernelMultiDevice(cudaLaunchParams* launches, unsigned count,
                                                   unsigned flags);
cudaError_t cudaSetDoubleForDevice(double* value);
cudaError_t cudaSetDoubleForHost(double* value);
cudaError_t cudaMemAdvise(const void* pointer, std::size_t bytes, cudaMemoryAdvise advice,
                          int device);
cudaError_t cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, int device,
                                 cudaStream_t stream);
cudaError_t cudaMemcpyBatchAsync(void** to, void** from, std::size_t* sizes, std::size_t count,
                                 cudaMemcpyAttributes* attributes, std::size_t* starts,
                                 std::size_t attribute_count, std::size_t* failed,
                                 cudaStream_t stream);
cudaError_t cudaMemcpy3DBatchAsync(std::size_t count, cudaMemcpy3DBatchOp* copies,
                                   std::size_t* failed, unsigned long long flags,
                                   cudaStream_t stream);
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                     unsigned long long* id);
cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                        unsigned long long* id, cudaGraph_t* graph,
                                        const cudaGraphNode_t** nodes, std::size_t* count);
cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* nodes,
                                                std::size_t count, unsigned flags);
cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                              std::size_t* count);
cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                         std::size_t* count);
cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                           std::size_t* count);
cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                     const cudaGraphNode_t* to, std::size_t count);
cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                        const cudaGraphNode_t* to, std::size_t count);
cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                             std::size_t count, cudaGraphNodeParams* parameters);

}  // namespace cuda12

namespace cuda11 {

struct cudaFuncAttributes {
  std::size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
  int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA;
  int maxDynamicSharedSizeBytes, preferredShmemCarveout;
};

cudaError_t cudaRuntimeGetVersion(int* version);
cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long flags);
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* symbol);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph,
                                 cudaGraphNode_t* error_node, char* log, std::size_t log_bytes);
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph,
                                cudaGraphNode_t* error_node, cudaGraphExecUpdateResult* result);

}  // namespace cuda11
}  // namespace barracuda::emulator::runtime

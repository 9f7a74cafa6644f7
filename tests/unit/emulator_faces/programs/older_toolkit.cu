// Built with CUDA 12.9 and 11.8: what libcudart.so.12 and libcudart.so.11.0 have otherwise than 13.
// Structures have a guard behind them: those of 13 are larger.
#include <cuda_runtime.h>

#include "check.h"

#define OK(call) EXPECT((call) == cudaSuccess)

template <typename T>
struct Guarded {
  T value{};
  unsigned guard[64];

  Guarded() {
    for (unsigned& word : guard) {
      word = 0xfeedbeef;
    }
  }

  ~Guarded() {
    for (const unsigned word : guard) {
      EXPECT(word == 0xfeedbeef);
    }
  }
};

__device__ int g_step = 1;

__global__ void add(int* values, int step) {
  values[blockIdx.x * blockDim.x + threadIdx.x] += step * g_step;
}

// With `racy` as argument, for the tool.
__global__ void sum(int* total) {
  *total += static_cast<int>(threadIdx.x);
}

static int attribute(cudaDeviceAttr name) {
  int value = -1;
  OK(cudaDeviceGetAttribute(&value, name, 0));
  return value;
}

static void test_descriptions() {
  int version = 0;
  OK(cudaRuntimeGetVersion(&version));
  EXPECT(version / 1000 == CUDART_VERSION / 1000);

  Guarded<cudaDeviceProp> properties;
  OK(cudaGetDeviceProperties(&properties.value, 0));
  EXPECT(properties.value.warpSize == 32);
  EXPECT(properties.value.major == attribute(cudaDevAttrComputeCapabilityMajor));
  EXPECT(properties.value.clockRate == attribute(cudaDevAttrClockRate));
  EXPECT(properties.value.multiProcessorCount == attribute(cudaDevAttrMultiProcessorCount));
  EXPECT(properties.value.maxTexture2D[1] == attribute(cudaDevAttrMaxTexture2DHeight));
  EXPECT(properties.value.memoryClockRate == attribute(cudaDevAttrMemoryClockRate));
  EXPECT(properties.value.l2CacheSize == attribute(cudaDevAttrL2CacheSize));
  EXPECT(properties.value.cooperativeLaunch == attribute(cudaDevAttrCooperativeLaunch));
  EXPECT(properties.value.reservedSharedMemPerBlock ==
         static_cast<size_t>(attribute(cudaDevAttrReservedSharedMemoryPerBlock)));
#if CUDART_VERSION >= 12000
  EXPECT(properties.value.clusterLaunch == attribute(cudaDevAttrClusterLaunch));
#endif

  Guarded<cudaFuncAttributes> attributes;
  OK(cudaFuncGetAttributes(&attributes.value, add));
  EXPECT(attributes.value.maxThreadsPerBlock == 1024);

  void* function = nullptr;
  OK(cudaGetDriverEntryPoint("cuMemAdvise", &function, cudaEnableDefault));
  EXPECT(function != nullptr);
}

static void test_memory() {
  constexpr int kCount = 256;
  int* values = nullptr;
  OK(cudaMallocManaged(&values, kCount * sizeof(int)));
  for (int i = 0; i < kCount; ++i) {
    values[i] = i;
  }
  OK(cudaMemAdvise(values, kCount * sizeof(int), cudaMemAdviseSetPreferredLocation, 0));
  OK(cudaMemAdvise(values, kCount * sizeof(int), cudaMemAdviseSetAccessedBy, cudaCpuDeviceId));
  EXPECT(cudaMemAdvise(values, kCount * sizeof(int), cudaMemAdviseSetAccessedBy, 7) != cudaSuccess);
  EXPECT(cudaGetLastError() != cudaSuccess);
  OK(cudaMemPrefetchAsync(values, kCount * sizeof(int), 0, nullptr));
  const int step = 3;
  OK(cudaMemcpyToSymbol(g_step, &step, sizeof step));
  add<<<2, kCount / 2>>>(values, 2);
  OK(cudaGetLastError());
  OK(cudaThreadSynchronize());
  for (int i = 0; i < kCount; ++i) {
    EXPECT(values[i] == i + 6);
  }
  Guarded<cudaPointerAttributes> attributes;
  OK(cudaPointerGetAttributes(&attributes.value, values));
  EXPECT(attributes.value.type == cudaMemoryTypeManaged);
  EXPECT(attributes.value.devicePointer == values);
#if CUDART_VERSION >= 12000
  const cudaMemLocation device = {cudaMemLocationTypeDevice, 0};
  OK(cudaMemAdvise_v2(values, kCount * sizeof(int), cudaMemAdviseSetReadMostly, device));
  int* copy = nullptr;
  OK(cudaMalloc(&copy, kCount * sizeof(int)));
  void *to = copy, *from = values;
  size_t bytes = kCount * sizeof(int), start = 0, failed = 0;
  cudaMemcpyAttributes how{};
  how.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  cudaStream_t stream = nullptr;
  OK(cudaStreamCreate(&stream));
  OK(cudaMemcpyBatchAsync(&to, &from, &bytes, 1, &how, &start, 1, &failed, stream));
  OK(cudaStreamSynchronize(stream));
  int last = 0;
  OK(cudaMemcpy(&last, copy + kCount - 1, sizeof last, cudaMemcpyDeviceToHost));
  EXPECT(last == values[kCount - 1]);
  OK(cudaStreamDestroy(stream));
  OK(cudaFree(copy));
#endif
  OK(cudaFree(values));
}

static void test_edges() {
  cudaGraph_t graph = nullptr;
  cudaGraphNode_t first = nullptr, second = nullptr, from = nullptr, to = nullptr;
  OK(cudaGraphCreate(&graph, 0));
  OK(cudaGraphAddEmptyNode(&first, graph, nullptr, 0));
  OK(cudaGraphAddEmptyNode(&second, graph, nullptr, 0));
  OK(cudaGraphAddDependencies(graph, &first, &second, 1));
  size_t count = 1;
  OK(cudaGraphGetEdges(graph, &from, &to, &count));
  EXPECT(count == 1 && from == first && to == second);
  OK(cudaGraphNodeGetDependencies(second, &from, &count));
  EXPECT(count == 1 && from == first);
  OK(cudaGraphNodeGetDependentNodes(first, &to, &count));
  EXPECT(count == 1 && to == second);
#if CUDART_VERSION >= 12000
  cudaGraphEdgeData data{};
  OK(cudaGraphGetEdges_v2(graph, &from, &to, &data, &count));
  EXPECT(count == 1 && from == first && to == second);
  cudaGraphNode_t third = nullptr;
  cudaGraphNodeParams empty{};
  empty.type = cudaGraphNodeTypeEmpty;
  OK(cudaGraphAddNode(&third, graph, &second, 1, &empty));
  OK(cudaGraphNodeGetDependencies(third, &from, &count));
  EXPECT(count == 1 && from == second);
  OK(cudaGraphRemoveDependencies(graph, &second, &third, 1));
#endif
  OK(cudaGraphRemoveDependencies(graph, &first, &second, 1));
  OK(cudaGraphGetEdges(graph, nullptr, nullptr, &count));
  EXPECT(count == 0);
  OK(cudaGraphDestroy(graph));
}

static void test_capture() {
  int* values = nullptr;
  OK(cudaMalloc(&values, 64 * sizeof(int)));
  OK(cudaMemset(values, 0, 64 * sizeof(int)));
  cudaStream_t stream = nullptr;
  OK(cudaStreamCreate(&stream));
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  add<<<1, 64, 0, stream>>>(values, 1);
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  unsigned long long id = 0;
  cudaGraph_t graph = nullptr;
  const cudaGraphNode_t* nodes = nullptr;
  size_t count = 0;
#if CUDART_VERSION >= 12000
  OK(cudaStreamGetCaptureInfo(stream, &status, &id, &graph, &nodes, &count));
#else
  OK(cudaStreamGetCaptureInfo(stream, &status, &id));
  EXPECT(status == cudaStreamCaptureStatusActive && id != 0);
  OK(cudaStreamGetCaptureInfo_v2(stream, &status, &id, &graph, &nodes, &count));
#endif
  EXPECT(status == cudaStreamCaptureStatusActive && id != 0);
  EXPECT(graph != nullptr && count == 1);
  OK(cudaStreamUpdateCaptureDependencies(stream, nullptr, 0, cudaStreamSetCaptureDependencies));
  OK(cudaStreamEndCapture(stream, &graph));

  cudaGraphExec_t executable = nullptr;
#if CUDART_VERSION >= 12000
  OK(cudaGraphInstantiate(&executable, graph, 0));
  cudaGraphExecUpdateResultInfo result;
  OK(cudaGraphExecUpdate(executable, graph, &result));
  EXPECT(result.result == cudaGraphExecUpdateSuccess);
#else
  char log[8] = "unused";
  cudaGraphNode_t failed = nullptr;
  OK(cudaGraphInstantiate(&executable, graph, &failed, log, sizeof log));
  cudaGraphExecUpdateResult result = cudaGraphExecUpdateError;
  OK(cudaGraphExecUpdate(executable, graph, &failed, &result));
  EXPECT(result == cudaGraphExecUpdateSuccess);
#endif
  cudaEvent_t before = nullptr, after = nullptr;
  OK(cudaEventCreate(&before));
  OK(cudaEventCreate(&after));
  OK(cudaEventRecord(before, stream));
  OK(cudaGraphLaunch(executable, stream));
  OK(cudaGraphLaunch(executable, stream));
  OK(cudaEventRecord(after, stream));
  OK(cudaStreamSynchronize(stream));
  float milliseconds = -1;
  OK(cudaEventElapsedTime(&milliseconds, before, after));
  EXPECT(milliseconds >= 0);
  int last = 0;
  OK(cudaMemcpy(&last, values + 63, sizeof last, cudaMemcpyDeviceToHost));
  EXPECT(last == 6);
  OK(cudaGraphExecDestroy(executable));
  OK(cudaGraphDestroy(graph));
  OK(cudaStreamDestroy(stream));
  OK(cudaFree(values));
}

int main(int argc, char** /*arguments*/) {
  if (argc > 1) {
    int* total = nullptr;
    OK(cudaMalloc(&total, sizeof *total));
    OK(cudaMemset(total, 0, sizeof *total));
    sum<<<2, 64>>>(total);  // RACE
    OK(cudaDeviceSynchronize());
    return 0;
  }
  test_descriptions();
  test_memory();
  test_edges();
  test_capture();
  return 0;
}

// Calls with wrong values, one by one: each has CUDA's own error, leaves it behind for
// cudaGetLastError once, and nothing else happens.
#include "check.h"

__global__ void kernel(int* to) {
  if (to != nullptr) {
    to[threadIdx.x] = 1;
  }
}

__global__ void __launch_bounds__(64) bounded(int* to) {
  *to = 1;
}

__device__ int g_symbol[4];
static int g_no_symbol;

// The error of a call is also the last error, and stays no longer than until it is asked for.
#define EXPECT_MISTAKE(call, error)         \
  EXPECT((call) == (error));                \
  EXPECT(cudaPeekAtLastError() == (error)); \
  EXPECT(cudaGetLastError() == (error));    \
  EXPECT(cudaGetLastError() == cudaSuccess)

static void launches() {
  const auto launched = [](dim3 grid, dim3 block, size_t shared) {
    kernel<<<grid, block, shared>>>(nullptr);
    return cudaPeekAtLastError();
  };
  EXPECT_MISTAKE(launched(1, 2048, 0), cudaErrorInvalidConfiguration);
  EXPECT_MISTAKE(launched(1, dim3(1, 1, 65), 0), cudaErrorInvalidConfiguration);
  EXPECT_MISTAKE(launched(dim3(1, 65536), 32, 0), cudaErrorInvalidConfiguration);
  EXPECT_MISTAKE(launched(1, 0, 0), cudaErrorInvalidConfiguration);
  EXPECT_MISTAKE(launched(1, 32, 48 * 1024 + 1), cudaErrorInvalidValue);
  EXPECT(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000) ==
         cudaSuccess);
  EXPECT(launched(1, 32, 60000) == cudaSuccess);
  const auto sets = [](int bytes) {
    return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  };
  EXPECT_MISTAKE(sets(1 << 20), cudaErrorInvalidValue);
  EXPECT_MISTAKE(sets(-1), cudaErrorInvalidValue);
  void* argument = nullptr;
  void* arguments[] = {&argument};
  EXPECT_MISTAKE(cudaLaunchKernel(bounded, 1, 128, arguments, 0, nullptr),
                 cudaErrorLaunchOutOfResources);
  EXPECT_MISTAKE(cudaLaunchKernel(&g_no_symbol, 1, 1, arguments, 0, nullptr),
                 cudaErrorInvalidDeviceFunction);
  EXPECT_MISTAKE(cudaFuncSetCacheConfig(kernel, static_cast<cudaFuncCache>(9)),
                 cudaErrorInvalidValue);
  EXPECT(cudaFuncSetCacheConfig(kernel, cudaFuncCachePreferEqual) == cudaSuccess);
  cudaFuncAttributes attributes;
  EXPECT_MISTAKE(cudaFuncGetAttributes(&attributes, &g_no_symbol), cudaErrorInvalidDeviceFunction);
  int blocks = -1;
  EXPECT(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, bounded, 128, 0) == cudaSuccess);
  EXPECT(blocks == 0);
}

static void memory(int* cells) {
  void* none = nullptr;
  int host[4] = {};
  EXPECT_MISTAKE(cudaMalloc(&none, size_t{1} << 60), cudaErrorMemoryAllocation);
  EXPECT_MISTAKE(cudaMalloc(nullptr, 4), cudaErrorInvalidValue);
  EXPECT_MISTAKE(cudaFree(cells + 1), cudaErrorInvalidValue);
  EXPECT(cudaFree(nullptr) == cudaSuccess);
  EXPECT_MISTAKE(cudaFreeHost(host), cudaErrorInvalidValue);
  EXPECT_MISTAKE(cudaMemcpy(cells, host, 16, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  EXPECT_MISTAKE(cudaMemcpy(host, cells, 16, static_cast<cudaMemcpyKind>(9)),
                 cudaErrorInvalidMemcpyDirection);
  EXPECT_MISTAKE(cudaMemcpy(nullptr, cells, 16, cudaMemcpyDefault), cudaErrorInvalidValue);
  EXPECT(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyDefault) == cudaSuccess);
  EXPECT_MISTAKE(cudaMemset(host, 0, 4), cudaErrorInvalidValue);
  EXPECT_MISTAKE(cudaMemcpy2D(cells, 16, host, 4, 8, 2, cudaMemcpyHostToDevice),
                 cudaErrorInvalidPitchValue);
  EXPECT_MISTAKE(cudaMemcpyToSymbol(g_no_symbol, host, 4), cudaErrorInvalidSymbol);
  EXPECT_MISTAKE(cudaMemcpyToSymbol(g_symbol, host, 8, 12), cudaErrorInvalidValue);
  EXPECT_MISTAKE(cudaMallocManaged(&none, 64, 7), cudaErrorInvalidValue);
  EXPECT_MISTAKE(cudaMallocManaged(&none, 0), cudaErrorInvalidValue);
  EXPECT_MISTAKE(cudaHostUnregister(host), cudaErrorHostMemoryNotRegistered);
  EXPECT_MISTAKE(cudaHostGetDevicePointer(&none, host, 0), cudaErrorInvalidValue);
}

static void devices() {
  EXPECT_MISTAKE(cudaSetDevice(7), cudaErrorInvalidDevice);
  EXPECT_MISTAKE(cudaSetDeviceFlags(0x100), cudaErrorInvalidValue);
  EXPECT_MISTAKE(cudaSetDeviceFlags(3), cudaErrorInvalidValue);
  EXPECT(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync) == cudaSuccess);
  EXPECT_MISTAKE(cudaDeviceEnablePeerAccess(0, 0), cudaErrorInvalidDevice);
  EXPECT_MISTAKE(cudaDeviceDisablePeerAccess(0), cudaErrorPeerAccessNotEnabled);
  EXPECT_MISTAKE(cudaDeviceSetLimit(static_cast<cudaLimit>(77), 4), cudaErrorUnsupportedLimit);
  EXPECT_MISTAKE(cudaDeviceSetCacheConfig(static_cast<cudaFuncCache>(9)), cudaErrorInvalidValue);
  int value = 0;
  EXPECT_MISTAKE(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(9999), 0),
                 cudaErrorInvalidValue);
  cudaDeviceProp properties;
  EXPECT_MISTAKE(cudaGetDeviceProperties(&properties, 3), cudaErrorInvalidDevice);
}

static void streams_and_events() {
  cudaStream_t stream;
  EXPECT_MISTAKE(cudaStreamCreateWithFlags(&stream, 8), cudaErrorInvalidValue);
  EXPECT(cudaStreamCreate(&stream) == cudaSuccess);
  EXPECT(cudaStreamDestroy(stream) == cudaSuccess);
  EXPECT_MISTAKE(cudaStreamSynchronize(stream), cudaErrorInvalidResourceHandle);
  EXPECT_MISTAKE(cudaLaunchHostFunc(nullptr, nullptr, nullptr), cudaErrorInvalidValue);
  cudaEvent_t timed;
  cudaEvent_t untimed;
  float milliseconds = 0;
  EXPECT_MISTAKE(cudaEventCreateWithFlags(&timed, 0x100), cudaErrorInvalidValue);
  EXPECT(cudaEventCreate(&timed) == cudaSuccess);
  EXPECT(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming) == cudaSuccess);
  EXPECT(cudaEventQuery(timed) == cudaSuccess);
  EXPECT_MISTAKE(cudaEventElapsedTime(&milliseconds, timed, timed), cudaErrorInvalidResourceHandle);
  EXPECT(cudaEventRecord(timed) == cudaSuccess && cudaEventRecord(untimed) == cudaSuccess);
  EXPECT_MISTAKE(cudaEventElapsedTime(&milliseconds, timed, untimed),
                 cudaErrorInvalidResourceHandle);
  EXPECT(cudaEventDestroy(timed) == cudaSuccess);
  EXPECT_MISTAKE(cudaEventRecord(timed), cudaErrorInvalidResourceHandle);
}

int main() {
  int* cells;
  EXPECT(cudaMalloc(&cells, 4096) == cudaSuccess);
  launches();
  memory(cells);
  devices();
  streams_and_events();
  kernel<<<1, 32>>>(cells);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  std::puts("ok");
}

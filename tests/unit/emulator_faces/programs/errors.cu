// What CUDA answers to mistakes: errors of a call, and a failed kernel that stays until a reset.
#include <cstring>

#include "check.h"

__global__ void store(int* to) {
  to[threadIdx.x] = 1;
}

__global__ void store_far(int* to) {
  to[1 << 20] = 1;
}

__global__ void __launch_bounds__(64) bounded(int* to) {
  *to = 1;
}

int main() {
  int* cells;
  EXPECT(cudaMalloc(&cells, 4096) == cudaSuccess);
  store<<<1, 2048>>>(cells);
  EXPECT(cudaPeekAtLastError() == cudaErrorInvalidConfiguration);
  EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
  EXPECT(cudaGetLastError() == cudaSuccess);
  store<<<0, 32>>>(cells);
  EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
  store<<<1, 32, 1 << 20>>>(cells);
  EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
  bounded<<<1, 128>>>(cells);
  EXPECT(cudaGetLastError() != cudaSuccess);
  EXPECT(cudaSetDevice(1) == cudaErrorInvalidDevice);
  EXPECT(cudaMemcpy(cells, cells, 4, static_cast<cudaMemcpyKind>(17)) ==
         cudaErrorInvalidMemcpyDirection);
  int host = 0;
  EXPECT(cudaMemcpy(cells + 1024, &host, 4, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  EXPECT(cudaMemset(&host, 0, 4) == cudaErrorInvalidValue);
  EXPECT(cudaFree(&host) == cudaErrorInvalidValue);
  EXPECT(host == 0);
  EXPECT(cudaFree(cells + 1) == cudaErrorInvalidValue);
  EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
  int* huge;
  EXPECT(cudaMalloc(&huge, size_t{1} << 60) == cudaErrorMemoryAllocation);
  EXPECT(cudaGetLastError() == cudaErrorMemoryAllocation);
  cudaMipmappedArray_t array;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  EXPECT(format.x == 32 && format.f == cudaChannelFormatKindFloat);
  EXPECT(cudaMallocMipmappedArray(&array, &format, {16, 1, 1}, 2) == cudaErrorNotSupported);
  EXPECT(cudaGetLastError() == cudaErrorNotSupported);
  // Without a handle there is neither a conditional node nor a kernel that sets its condition.
  cudaGraph_t graph;
  cudaGraphConditionalHandle condition;
  EXPECT(cudaGraphCreate(&graph, 0) == cudaSuccess);
  EXPECT(cudaGraphConditionalHandleCreate(&condition, graph, 1, cudaGraphCondAssignDefault) ==
         cudaErrorNotSupported);
  EXPECT(cudaGetLastError() == cudaErrorNotSupported);
  EXPECT(cudaGraphDestroy(graph) == cudaSuccess);
  EXPECT(std::strcmp(cudaGetErrorName(cudaErrorIllegalAddress), "cudaErrorIllegalAddress") == 0);
  EXPECT(std::strcmp(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory") == 0);

  store_far<<<1, 1>>>(cells);
  EXPECT(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
  EXPECT(cudaMalloc(&huge, 16) == cudaErrorIllegalAddress);
  EXPECT(cudaGetLastError() == cudaErrorIllegalAddress);
  EXPECT(cudaGetLastError() == cudaErrorIllegalAddress);
  EXPECT(cudaDeviceReset() == cudaSuccess);
  EXPECT(cudaMalloc(&cells, 4096) == cudaSuccess);
  store<<<1, 32>>>(cells);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  std::puts("ok");
}

// A kernel may have all the shared memory that it could have without the tool: 48 KiB unasked, and
// what the device has where it asks. Libraries choose their kernels by such answers.
// expect: none
#include <cstdio>

#include "../../../examples/cuda_check.h"

constexpr int kThreads = 64;
constexpr int kUnasked = 48 * 1024;

__global__ void probe() {}

__global__ void fill(int* out) {
  extern __shared__ int shared[];
  shared[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = shared[threadIdx.x];
}

__global__ void fill_beside(int* out) {
  __shared__ int fixed[kThreads];
  extern __shared__ int shared[];
  fixed[threadIdx.x] = shared[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = shared[threadIdx.x] + fixed[threadIdx.x];
}

void check(bool holds, const char* what) {
  if (!holds) {
    std::printf("wrong: %s\n", what);
    std::exit(1);
  }
}

template <typename Kernel>
cudaFuncAttributes attributes_of(Kernel kernel) {
  cudaFuncAttributes attributes;
  CUDA_CHECK(cudaFuncGetAttributes(&attributes, kernel));
  return attributes;
}

int main() {
  int most = 0;
  CUDA_CHECK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  int* out = nullptr;
  CUDA_CHECK(cudaMalloc(&out, kThreads * sizeof(int)));

  check(attributes_of(fill).sharedSizeBytes == 0, "static size");
  check(attributes_of(fill).maxDynamicSharedSizeBytes == kUnasked, "limit");
  fill<<<1, kThreads, kUnasked>>>(out);
  CUDA_CHECK(cudaGetLastError());
  constexpr int kFixed = kThreads * sizeof(int);
  check(attributes_of(fill_beside).sharedSizeBytes == kFixed, "static size beside another");
  check(attributes_of(fill_beside).maxDynamicSharedSizeBytes == kUnasked - kFixed,
        "limit beside another");
  fill_beside<<<1, kThreads, kUnasked - kFixed>>>(out);
  CUDA_CHECK(cudaGetLastError());
  fill<<<1, kThreads, kUnasked + 1>>>(out);
  check(cudaGetLastError() == cudaErrorInvalidValue, "more than the limit");

  const auto limit = cudaFuncAttributeMaxDynamicSharedMemorySize;
  CUDA_CHECK(cudaFuncSetAttribute(fill, limit, 64 * 1024));
  check(attributes_of(fill).maxDynamicSharedSizeBytes == 64 * 1024, "what was asked for");
  fill<<<1, kThreads, 64 * 1024>>>(out);
  CUDA_CHECK(cudaGetLastError());
  check(cudaFuncSetAttribute(fill, limit, most + 1) == cudaErrorInvalidValue, "too much");
  (void)cudaGetLastError();

  // Many ask for all and take less.
  CUDA_CHECK(cudaFuncSetAttribute(fill, limit, most));
  check(attributes_of(fill).maxDynamicSharedSizeBytes == most, "all that there is");
  int blocks = 0;
  CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fill, kThreads, most));
  check(blocks == 1, "blocks with all that there is");
  fill<<<1, kThreads, 96 * 1024>>>(out);
  CUDA_CHECK(cudaGetLastError());

  CUDA_CHECK(cudaFuncSetAttribute(probe, limit, most));
  probe<<<1, kThreads, most>>>();
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  std::printf("as without the tool\n");
  return 0;
}

// Two halves of a vector in two streams, so that copies overlap with kernels: but the second copy
// fetches what the first kernel may still be writing. Both streams are right for themselves.
//
// expect: race kernel-copy global
// expect paper: none
// flags: -g
#include "cuda_check.h"

constexpr int kCount = 64;

__global__ void square(int* values, int first) {
  const int index = first + static_cast<int>(threadIdx.x);
  values[index] = index * index;  // RACE
}

int main() {
  int *values, *fetched;
  CUDA_CHECK(cudaMalloc(&values, 2 * kCount * sizeof(int)));
  CUDA_CHECK(cudaMallocHost(&fetched, kCount * sizeof(int)));
  cudaStream_t compute, fetch;
  CUDA_CHECK(cudaStreamCreate(&compute));
  CUDA_CHECK(cudaStreamCreate(&fetch));

  const size_t bytes = kCount * sizeof(int);
  square<<<1, kCount, 0, compute>>>(values, 0);
  CUDA_CHECK(cudaMemcpyAsync(fetched, values, bytes, cudaMemcpyDefault, fetch));  // RACE
  square<<<1, kCount, 0, compute>>>(values, kCount);

  CUDA_CHECK(cudaDeviceSynchronize());
  long long total = 0;
  for (int i = 0; i < kCount; ++i) {
    total += fetched[i];
  }
  return finish(total == 85344, total);
}

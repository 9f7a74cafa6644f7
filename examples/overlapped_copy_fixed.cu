// overlapped_copy_race.cu, mended: the copy waits for an event behind the kernel that it needs, and
// overlaps with the next one.
//
// expect: none
#include "cuda_check.h"

constexpr int kCount = 64;

__global__ void square(int* values, int first) {
  const int index = first + static_cast<int>(threadIdx.x);
  values[index] = index * index;
}

int main() {
  int *values, *fetched;
  CUDA_CHECK(cudaMalloc(&values, 2 * kCount * sizeof(int)));
  CUDA_CHECK(cudaMallocHost(&fetched, kCount * sizeof(int)));
  cudaStream_t compute, fetch;
  CUDA_CHECK(cudaStreamCreate(&compute));
  CUDA_CHECK(cudaStreamCreate(&fetch));
  cudaEvent_t first_half;
  CUDA_CHECK(cudaEventCreate(&first_half));

  const size_t bytes = kCount * sizeof(int);
  square<<<1, kCount, 0, compute>>>(values, 0);
  CUDA_CHECK(cudaEventRecord(first_half, compute));
  CUDA_CHECK(cudaStreamWaitEvent(fetch, first_half, 0));
  CUDA_CHECK(cudaMemcpyAsync(fetched, values, bytes, cudaMemcpyDefault, fetch));
  square<<<1, kCount, 0, compute>>>(values, kCount);

  CUDA_CHECK(cudaDeviceSynchronize());
  long long total = 0;
  for (int i = 0; i < kCount; ++i) {
    total += fetched[i];
  }
  return finish(total == 85344, total);
}

// A hand-over through cuda::atomic_ref with relaxed order: the flag arrives, the data may not.
// expect: race inter-block global
#include <cuda/atomic>

#include "cuda_check.h"

__device__ int flag = 0;
__device__ int data = 0;

__global__ void hand_over(int* result) {
  cuda::atomic_ref<int, cuda::thread_scope_device> ready(flag);
  if (blockIdx.x == 0) {
    data = 42;  // RACE
    ready.store(1, cuda::memory_order_relaxed);
  } else {
    while (ready.load(cuda::memory_order_relaxed) == 0) {
    }
    *result = data;  // RACE
  }
}

int main() {
  int* device_result;
  CUDA_CHECK(cudaMalloc(&device_result, sizeof(int)));
  hand_over<<<2, 1>>>(device_result);
  int result = 0;
  CUDA_CHECK(cudaMemcpy(&result, device_result, sizeof result, cudaMemcpyDeviceToHost));
  finish(result == 42, result);
  return 0;
}

// One block hands data to another through a flag, but its fences reach its own block only: the data
// races, and so does the flag, since the pair of its accesses synchronises nothing.
// expect: race inter-block global
#include "cuda_check.h"

volatile __device__ int flag = 0;
__device__ int data = 0;

__global__ void hand_over(int* result) {
  if (blockIdx.x == 0) {
    data = 42;  // RACE
    __threadfence_block();
    flag = 1;  // RACE
  } else {
    while (flag == 0) {  // RACE
    }
    __threadfence_block();
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

// One block hands data to another through a flag, with fences that reach the whole GPU.
// expect: none
#include "cuda_check.h"

volatile __device__ int flag = 0;
__device__ int data = 0;

__global__ void hand_over(int* result) {
  if (blockIdx.x == 0) {
    data = 42;
    __threadfence();
    flag = 1;
  } else {
    while (flag == 0) {
    }
    __threadfence();
    *result = data;
  }
}

int main() {
  int* device_result;
  CUDA_CHECK(cudaMalloc(&device_result, sizeof(int)));
  hand_over<<<2, 1>>>(device_result);
  int result = 0;
  CUDA_CHECK(cudaMemcpy(&result, device_result, sizeof result, cudaMemcpyDeviceToHost));
  return finish(result == 42, result);
}

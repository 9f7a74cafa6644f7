// The even lanes of a warp leave a value for the odd ones, which read it behind the branch and a
// warp barrier.
//
// expect: none
#include "cuda_check.h"

__global__ void exchange(int* result) {
  __shared__ int values[32];
  const int lane = threadIdx.x;
  values[lane] = 0;
  __syncwarp();
  if (lane % 2 == 0) {
    values[lane] = lane;
  }
  __syncwarp();
  if (lane % 2 != 0) {
    result[lane] = values[lane - 1];
  }
}

int main() {
  int* device_result;
  CUDA_CHECK(cudaMalloc(&device_result, 32 * sizeof(int)));
  exchange<<<1, 32>>>(device_result);
  int result[32] = {};
  CUDA_CHECK(cudaMemcpy(result, device_result, sizeof result, cudaMemcpyDeviceToHost));
  finish(result[31] == 30, result[31]);
  return 0;
}

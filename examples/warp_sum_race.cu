// A warp adds up 32 values in shared memory as if its lanes ran in lockstep. Since Volta they do
// not.
//
// expect: race intra-warp shared
// expect paper: none
#include "cuda_check.h"

__global__ void warp_sum(int* result) {
  __shared__ int values[32];
  const int lane = threadIdx.x;
  values[lane] = lane;  // RACE
  for (int half = 16; half > 0; half /= 2) {
    const int other = lane < half ? values[lane + half] : 0;  // RACE
    values[lane] += other;                                    // RACE
  }
  if (lane == 0) {
    *result = values[0];
  }
}

int main() {
  int* device_result;
  CUDA_CHECK(cudaMalloc(&device_result, sizeof(int)));
  warp_sum<<<1, 32>>>(device_result);
  int result = 0;
  CUDA_CHECK(cudaMemcpy(&result, device_result, sizeof result, cudaMemcpyDeviceToHost));
  finish(result == 496, result);
  return 0;
}

// One thread adds to a counter without an atomic, in a loop in which the others use one.
// expect: race - shared
// missing: ^the (read|write) at .*race.cu:15 is part of an update .* beside the atomic at .*:17
#include "../../../litmus_suite/litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ int count;
  if (threadIdx.x == 0) {
    count = 0;
  }
  __syncthreads();
#pragma unroll 1
  for (int i = 0; i < 4; ++i) {
    if (threadIdx.x == 0) {
      count += 5;  // RACE
    } else {
      atomicAdd(&count, 1);  // RACE
    }
  }
  __syncthreads();
  out[threadIdx.x] = count;
}

LITMUS(1, 64)

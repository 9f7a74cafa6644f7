// A block fills an array with all its threads, and its first thread raises a flag without waiting
// for the others.
// expect: race inter-block global
// missing: at .*_race.cu:14 by another thread of block 0.*: __syncthreads\(\) is missing between
#include "../../../litmus_suite/litmus.h"

__device__ int values[64];

__global__ void litmus(int* x, int* flag, int* out) {
  if (blockIdx.x == 0) {
    values[threadIdx.x] = threadIdx.x * 2;  // RACE
    if (threadIdx.x == 0) {
      __threadfence();
      atomicExch(flag, 1);
    }
  } else {
    if (threadIdx.x == 0) {
      while (atomicAdd(flag, 0) == 0) {
      }
      __threadfence();
    }
    __syncthreads();
    out[threadIdx.x] = values[63 - threadIdx.x];  // RACE
  }
}

LITMUS(2, 64)

// A barrier stands between those who write the rows of a matrix and the warp that loads it.
// expect: none
// weak: never
// flags: -arch=sm_80
#include "../litmus.h"

#define LOAD "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"

__device__ int load_matrix(unsigned row) {
  int words;
  asm volatile(LOAD : "=r"(words) : "r"(row) : "memory");
  return words;
}

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ __align__(16) int s[32];
  if (threadIdx.x < 32) {
    s[threadIdx.x] = threadIdx.x;
  }
  __syncthreads();
  if (threadIdx.x >= 32) {
    out[threadIdx.x] = load_matrix(__cvta_generic_to_shared(&s[threadIdx.x % 8 * 4]));
  }
}

LITMUS(1, 64)

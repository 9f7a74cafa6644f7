// The padding behind a row's elements of six bits is not read by the warp that loads them.
// expect: none
// result: x 0 out 381923412
// weak: never
// flags: -gencode arch=compute_100a,code=[compute_100a,sm_100a]
#include "../async_copy.h"
#include "../litmus.h"

#define LOAD "ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b6x16_p32 {%0}, [%1];"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ alignas(16) int s[8][4];
  if (threadIdx.x < 24) {
    s[threadIdx.x / 3][threadIdx.x % 3] = threadIdx.x;
  }
  __syncthreads();
  if (threadIdx.x < 32) {
    int word;
    asm volatile(LOAD : "=r"(word) : "r"(SHARED_ADDRESS(s[threadIdx.x % 8])) : "memory");
    out[threadIdx.x] = word;
  } else if (threadIdx.x < 40) {
    s[threadIdx.x % 8][3] = 1;
  }
}

LITMUS(1, 64)

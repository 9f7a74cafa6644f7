// A barrier stands between the warp that stores a matrix of bytes and the one that loads it.
// expect: none
// result: x 0 out 4311806192
// weak: never
// flags: -gencode arch=compute_100a,code=[compute_100a,sm_100a]
#include "../async_copy.h"
#include "../litmus.h"

#define STORE "stmatrix.sync.aligned.m16n8.x2.trans.shared.b8 [%0], {%1, %2};"
#define LOAD "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%0, %1}, [%2];"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ alignas(16) unsigned char s[16][16];
  const unsigned line = SHARED_ADDRESS(s[threadIdx.x % 16]);
  if (threadIdx.x < 32) {
    asm volatile(STORE ::"r"(line), "r"(threadIdx.x), "r"(threadIdx.x << 8) : "memory");
  }
  __syncthreads();
  if (threadIdx.x >= 32) {
    int words[2];
    asm volatile(LOAD : "=r"(words[0]), "=r"(words[1]) : "r"(line) : "memory");
    out[threadIdx.x] = words[0] + words[1];
  }
}

LITMUS(1, 64)

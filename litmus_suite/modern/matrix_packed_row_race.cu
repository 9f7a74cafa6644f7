// Twelve bytes of a row are elements of six bits, and the warp that loads them reads the last one.
// expect: race intra-block shared
// variable: s
// weak: never
// flags: -gencode arch=compute_100a,code=[compute_100a,sm_100a]
#include "../async_copy.h"
#include "../litmus.h"

#define LOAD "ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b6x16_p32 {%0}, [%1];"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ alignas(16) unsigned char s[8][16];
  if (threadIdx.x < 32) {
    int word;
    asm volatile(LOAD : "=r"(word) : "r"(SHARED_ADDRESS(s[threadIdx.x % 8])) : "memory");  // RACE
    out[threadIdx.x] = word;
  } else if (threadIdx.x < 40) {
    s[threadIdx.x % 8][11] = 0;  // RACE
  }
}

LITMUS(1, 64)

// A sorting network, its step in one statement, leaves out the barrier behind its steps.
// expect: race intra-block shared
// missing: ^__syncthreads\(\) is missing before the next round of their loop
#include "../../../litmus_suite/litmus.h"
#define SWAP(a, b, up)      \
  {                         \
    const int p = a, q = b; \
    if ((p > q) == (up)) {  \
      a = q;                \
      b = p;                \
    }                       \
  }

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ int cells[128];
  const int t = threadIdx.x;
  cells[t] = (t * 7919) % 1009;
  __syncthreads();
  for (int size = 2; size <= 128; size <<= 1) {
    for (int distance = size / 2; distance > 0; distance >>= 1) {
      const int low = 2 * t - (t & (distance - 1));
      if (t < 64) {
        SWAP(cells[low], cells[low + distance], (low & size) == 0);  // RACE
      }
    }
    __syncthreads();
  }
  __syncthreads();
  out[t] = cells[t];
}

LITMUS(1, 128)

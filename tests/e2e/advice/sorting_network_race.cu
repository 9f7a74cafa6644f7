// A sorting network leaves out the barrier behind one of its steps.
// expect: race intra-block shared
// missing: __syncthreads\(\) is missing before the next round of their loop
#include "../../../litmus_suite/litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ int cells[128];
  const int t = threadIdx.x;
  cells[t] = (t * 7919) % 1009;
  __syncthreads();
  for (int distance = 64; distance > 0; distance >>= 1) {
    const int partner = t ^ distance;
    if (partner > t) {
      const int a = cells[t], b = cells[partner];  // RACE
      if (a > b) {
        cells[t] = b;        // RACE
        cells[partner] = a;  // RACE
      }
    }
    if (distance != 32) {
      __syncthreads();
    }
  }
  out[t] = cells[t];
}

LITMUS(1, 128)

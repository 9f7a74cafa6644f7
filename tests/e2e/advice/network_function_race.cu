// A sorting network, its step in a function, leaves out a barrier behind steps of a warp's own.
// expect: race intra-warp shared
// missing: ^__syncwarp\(\) is missing before the next round of their loop
#include "../../../litmus_suite/litmus.h"

__device__ void order(int& a, int& b, bool up) {
  if ((a > b) == up) {  // RACE
    const int t = a;
    a = b;  // RACE
    b = t;  // RACE
  }
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
        order(cells[low], cells[low + distance], (low & size) == 0);
      }
      if (distance != 32) {
        __syncthreads();
      }
    }
  }
  __syncthreads();
  out[t] = cells[t];
}

LITMUS(1, 128)

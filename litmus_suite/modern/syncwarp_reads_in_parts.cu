// What each lane stored is read behind a __syncwarp() by some lanes, and then by others.
// expect: none
// result: x 0 out 6
// weak: never
#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ int s[32];
  const int lane = threadIdx.x;
  s[lane] = lane;
  __syncwarp();
  int sum = 0;
  if (lane == 0) {
    sum = s[1];
  }
  if (lane == 2 || lane == 3) {
    sum = s[lane - 1];
  }
  if (lane == 5) {
    sum = s[2];
  }
  atomicAdd(out, sum);
}

LITMUS(1, 32)

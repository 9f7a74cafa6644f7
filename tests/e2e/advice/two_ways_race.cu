// A store and a read that PTX has on two ways of a branch, by one register: no update.
// expect: race intra-block shared
// missing: __syncthreads\(\) is missing
#include "../../../litmus_suite/litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ struct {
    int low, high;
  } range;

  const int high = flag[0];
  if (threadIdx.x == 0) {
    range.low = 0;
    range.high = high;  // RACE
  }
  out[threadIdx.x] = range.high;  // RACE
}

LITMUS(1, 64)

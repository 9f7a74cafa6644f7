// Each warp works off what its own lanes want, until none wants more: warps go round differently
// often, and a barrier of the block in that loop would wait for ever.
// expect: race - shared
// missing: no __syncthreads\(\) can stand in it: the two accesses must be atomic
#include "../../../litmus_suite/litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ int slots[64];
  const int lane = threadIdx.x % 32;
  slots[threadIdx.x] = 0;
  __syncthreads();
  bool is_waiting = x[threadIdx.x] >= 0;
  unsigned work;
  while ((work = __ballot_sync(~0u, is_waiting)) != 0) {
    const int source = __ffs(work) - 1;
    const unsigned empty = __ballot_sync(~0u, slots[lane] == 0);  // RACE
    if (lane == source) {
      slots[threadIdx.x ^ 32] = 1 + empty;  // RACE
      is_waiting = false;
    }
  }
  __syncthreads();
  out[threadIdx.x] = slots[threadIdx.x];
}

LITMUS(1, 64)

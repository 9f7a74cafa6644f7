// A block waits by an atomic load for what another one stores plainly: a launch of its own would
// wait for ever.
// expect: race inter-block global
// missing: beside the atomic read at .* must be atomic as well
#include <cuda/atomic>

#include "../../../litmus_suite/litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (threadIdx.x != 0) {
    return;
  }
  if (blockIdx.x == 0) {
    *flag = 1;  // RACE
  } else {
    const cuda::atomic_ref<int, cuda::thread_scope_device> seen(*flag);
    while (seen.load(cuda::memory_order_relaxed) == 0) {  // RACE
    }
    out[0] = 1;
  }
}

LITMUS(2, 32)

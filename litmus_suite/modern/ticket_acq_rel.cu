// The block with the last ticket reads what all blocks wrote: atom.acq_rel.
// expect: none
// weak: never
// result: x 10 out 10
#include <cuda/atomic>

#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  const cuda::atomic_ref<int, cuda::thread_scope_device> tickets(flag[0]);
  if (threadIdx.x == 0) {
    x[blockIdx.x] = blockIdx.x + 1;
    if (tickets.fetch_add(1, cuda::memory_order_acq_rel) == static_cast<int>(gridDim.x) - 1) {
      for (unsigned block = 0; block < gridDim.x; ++block) {
        out[0] += x[block];
      }
    }
  }
}

LITMUS(4, 32)

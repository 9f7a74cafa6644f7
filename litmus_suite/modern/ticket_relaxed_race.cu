// The ticket is relaxed.
// expect: race inter-block global
// weak: fails
#include <cuda/atomic>

#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  const cuda::atomic_ref<int, cuda::thread_scope_device> tickets(flag[0]);
  if (threadIdx.x == 0) {
    x[blockIdx.x] = blockIdx.x + 1;  // RACE
    if (tickets.fetch_add(1, cuda::memory_order_relaxed) == static_cast<int>(gridDim.x) - 1) {
      for (unsigned block = 0; block < gridDim.x; ++block) {
        out[0] += x[block];  // RACE
      }
    }
  }
}

LITMUS(4, 32)

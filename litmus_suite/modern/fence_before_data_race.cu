// The fence stands before the data: it releases what came before it only.
// expect: race inter-block global
// weak: fails
// expect paper: none
#include <cuda/atomic>

#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  const cuda::atomic_ref<int, cuda::thread_scope_device> ready(flag[0]);
  if (THREAD(0, 0)) {
    __threadfence();
    x[0] = 42;  // RACE
    ready.store(1, cuda::memory_order_relaxed);
  }
  if (THREAD(1, 0)) {
    while (ready.load(cuda::memory_order_acquire) == 0) {
    }
    out[0] = x[0];  // RACE
  }
}

LITMUS(2, 32)

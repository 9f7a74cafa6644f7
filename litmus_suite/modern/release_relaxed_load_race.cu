// The reading side is relaxed.
// expect: race inter-block global
// weak: never
#include <cuda/atomic>

#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  const cuda::atomic_ref<int, cuda::thread_scope_device> ready(flag[0]);
  if (THREAD(0, 0)) {
    x[0] = 42;  // RACE
    ready.store(1, cuda::memory_order_release);
  }
  if (THREAD(1, 0)) {
    while (ready.load(cuda::memory_order_relaxed) == 0) {
    }
    out[0] = x[0];  // RACE
  }
}

LITMUS(2, 32)

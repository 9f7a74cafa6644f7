// The reader looks at the flag once and reads in any case: ordered only where it came late.
// expect: race inter-block global
// weak: never
// schedule: some
// ordered: out 43
#include <cuda/atomic>

#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  const cuda::atomic_ref<int, cuda::thread_scope_device> ready(flag[0]);
  if (THREAD(0, 0)) {
    x[0] = 42;  // RACE
    ready.store(1, cuda::memory_order_release);
  }
  if (THREAD(1, 0)) {
    out[1] = ready.load(cuda::memory_order_acquire);
    out[0] = x[0];  // RACE
  }
}

LITMUS(2, 32)

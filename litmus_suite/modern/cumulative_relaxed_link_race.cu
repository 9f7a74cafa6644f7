// The thread in the middle does not acquire: it passes nothing on.
// expect: race inter-block global
// weak: never
#include <cuda/atomic>

#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  const cuda::atomic_ref<int, cuda::thread_scope_device> first(flag[0]);
  const cuda::atomic_ref<int, cuda::thread_scope_device> second(flag[1]);
  if (THREAD(0, 0)) {
    x[0] = 42;  // RACE
    first.store(1, cuda::memory_order_release);
  }
  if (THREAD(0, 32)) {
    while (first.load(cuda::memory_order_relaxed) == 0) {
    }
    second.store(1, cuda::memory_order_release);
  }
  if (THREAD(1, 0)) {
    while (second.load(cuda::memory_order_acquire) == 0) {
    }
    out[0] = x[0];  // RACE
  }
}

LITMUS(2, 64)

// A reduction hands on what it read, and a relaxed store of its own thread is all that it read.
// expect: race inter-block global
// weak: never
// expect paper: none
#include <cuda/atomic>

#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  const cuda::atomic_ref<int, cuda::thread_scope_device> ready(flag[0]);
  const cuda::atomic_ref<int, cuda::thread_scope_device> overwritten(flag[1]);
  if (THREAD(0, 0)) {
    x[0] = 42;  // RACE
    ready.store(1, cuda::memory_order_release);
  }
  if (THREAD(1, 0)) {
    while (ready.load(cuda::memory_order_relaxed) == 0) {
    }
    ready.store(2, cuda::memory_order_relaxed);
    asm volatile("red.relaxed.gpu.global.add.s32 [%0], 1;" ::"l"(__cvta_generic_to_global(flag))
                 : "memory");
    overwritten.store(1, cuda::memory_order_release);
  }
  if (THREAD(2, 0)) {
    while (overwritten.load(cuda::memory_order_acquire) == 0) {
    }
    out[1] = ready.load(cuda::memory_order_acquire);  // 3
    out[0] = x[0];                                    // RACE
  }
}

LITMUS(3, 32)

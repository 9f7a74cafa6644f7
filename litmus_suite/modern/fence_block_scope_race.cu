// cuda::atomic_thread_fence of block scope between two blocks.
// expect: race inter-block global
// weak: fails
#include <cuda/atomic>

#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  const cuda::atomic_ref<int, cuda::thread_scope_device> ready(flag[0]);
  if (THREAD(0, 0)) {
    x[0] = 42;  // RACE
    cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_block);
    ready.store(1, cuda::memory_order_relaxed);
  }
  if (THREAD(1, 0)) {
    while (ready.load(cuda::memory_order_relaxed) == 0) {
    }
    cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_block);
    out[0] = x[0];  // RACE
  }
}

LITMUS(2, 32)

// cuda::atomic_thread_fence on both sides of relaxed accesses.
// expect: none
// weak: never
// result: x 42 out 42
#include <cuda/atomic>

#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  const cuda::atomic_ref<int, cuda::thread_scope_device> ready(flag[0]);
  if (THREAD(0, 0)) {
    x[0] = 42;
    cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_device);
    ready.store(1, cuda::memory_order_relaxed);
  }
  if (THREAD(1, 0)) {
    while (ready.load(cuda::memory_order_relaxed) == 0) {
    }
    cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_device);
    out[0] = x[0];
  }
}

LITMUS(2, 32)

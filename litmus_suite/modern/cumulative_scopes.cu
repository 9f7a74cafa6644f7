// Block scope to a neighbour warp, device scope to the next block: releases are cumulative.
// expect: none
// weak: never
// result: x 42 out 42
#include <cuda/atomic>

#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  const cuda::atomic_ref<int, cuda::thread_scope_block> first(flag[0]);
  const cuda::atomic_ref<int, cuda::thread_scope_device> second(flag[1]);
  if (THREAD(0, 0)) {
    x[0] = 42;
    first.store(1, cuda::memory_order_release);
  }
  if (THREAD(0, 32)) {
    while (first.load(cuda::memory_order_acquire) == 0) {
    }
    second.store(1, cuda::memory_order_release);
  }
  if (THREAD(1, 0)) {
    while (second.load(cuda::memory_order_acquire) == 0) {
    }
    out[0] = x[0];
  }
}

LITMUS(2, 64)

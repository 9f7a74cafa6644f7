// A word counts up by relaxed stores: no thread that reads it again finds it lower.
// expect: none
// weak: never
// result: x 16 out 0
#include <cuda/atomic>

#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  const cuda::atomic_ref<int, cuda::thread_scope_device> count(x[0]);
  if (threadIdx.x != 0) {
    return;
  }
  if (blockIdx.x == 0) {
    for (int i = 1; i <= 16; ++i) {
      count.store(i, cuda::memory_order_relaxed);
    }
    return;
  }
  int before = 0;
  while (before < 16) {
    const int now = count.load(cuda::memory_order_relaxed);
    out[blockIdx.x] += now < before;
    before = now;
  }
}

LITMUS(3, 32)

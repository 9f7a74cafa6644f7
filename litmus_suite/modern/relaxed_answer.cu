// Two blocks wait for each other by relaxed stores alone: each is seen before long.
// expect: none
// weak: never
// result: x 16 out 2
#include <cuda/atomic>

#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  using Word = cuda::atomic_ref<int, cuda::thread_scope_device>;
  const Word mine(x[blockIdx.x]);
  const Word other(x[1 - blockIdx.x]);
  if (threadIdx.x == 0) {
    for (int i = 1; i <= 8; ++i) {
      mine.store(i, cuda::memory_order_relaxed);
      while (other.load(cuda::memory_order_relaxed) < i) {
      }
    }
    out[blockIdx.x] = 1;
  }
}

LITMUS(2, 32)

// Two blocks copy each other's word: what neither has stored, nobody reads.
// expect: none
// weak: never
// result: x 0 out 0
#include <cuda/atomic>

#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  using Word = cuda::atomic_ref<int, cuda::thread_scope_device>;
  const Word from(x[blockIdx.x]);
  const Word to(x[1 - blockIdx.x]);
  if (threadIdx.x == 0) {
    for (int i = 0; i < 8; ++i) {
      const int value = from.load(cuda::memory_order_relaxed);
      to.store(value, cuda::memory_order_relaxed);
      out[blockIdx.x] += value;
    }
  }
}

LITMUS(2, 32)

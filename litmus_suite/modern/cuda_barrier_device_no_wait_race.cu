// The blocks arrive at a cuda::barrier and do not wait.
// expect: race inter-block global
// weak: never
#include <new>

#include <cuda/atomic>
#include <cuda/barrier>

#include "../litmus.h"

using Barrier = cuda::barrier<cuda::thread_scope_device>;

__global__ void litmus(int* x, int* flag, int* out) {
  auto* const barrier = reinterpret_cast<Barrier*>(flag + 64);
  const cuda::atomic_ref<int, cuda::thread_scope_device> made(flag[0]);
  if (threadIdx.x == 0) {
    if (blockIdx.x == 0) {
      new (barrier) Barrier(4);
      made.store(1, cuda::memory_order_release);
    }
    while (made.load(cuda::memory_order_acquire) == 0) {
    }
    x[4 * blockIdx.x] = blockIdx.x;  // RACE
    static_cast<void>(barrier->arrive());
    out[blockIdx.x] = x[4 * (blockIdx.x ^ 1)];  // RACE
  }
}

LITMUS_COOPERATIVE(4, 32)

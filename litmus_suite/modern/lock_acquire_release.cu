// A lock of compare_exchange with acquire and a store with release.
// expect: none
// weak: never
// result: x 4 out 0
#include <cuda/atomic>

#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  const cuda::atomic_ref<int, cuda::thread_scope_device> lock(flag[0]);
  if (threadIdx.x == 0) {
    for (int free = 0; !lock.compare_exchange_strong(free, 1, cuda::memory_order_acquire);
         free = 0) {
    }
    x[0] = x[0] + 1;
    lock.store(0, cuda::memory_order_release);
  }
}

LITMUS(4, 32)

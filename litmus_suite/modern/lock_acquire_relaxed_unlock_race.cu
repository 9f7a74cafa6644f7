// The unlock is relaxed.
// expect: race inter-block global
// weak: fails
#include <cuda/atomic>

#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  const cuda::atomic_ref<int, cuda::thread_scope_device> lock(flag[0]);
  if (threadIdx.x == 0) {
    for (int free = 0; !lock.compare_exchange_strong(free, 1, cuda::memory_order_acquire);
         free = 0) {
    }
    x[0] = x[0] + 1;  // RACE
    lock.store(0, cuda::memory_order_relaxed);
  }
}

LITMUS(4, 32)

// The acquire is of device scope, the release of block scope.
// expect: race inter-block global
// weak: fails
// expect paper: none
#include <cuda/atomic>

#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  const cuda::atomic_ref<int, cuda::thread_scope_block> narrow(flag[0]);
  const cuda::atomic_ref<int, cuda::thread_scope_device> wide(flag[0]);
  if (THREAD(0, 0)) {
    x[0] = 42;                                    // RACE
    narrow.store(1, cuda::memory_order_release);  // RACE
  }
  if (THREAD(1, 0)) {
    while (wide.load(cuda::memory_order_acquire) == 0) {  // RACE
    }
    out[0] = x[0];  // RACE
  }
}

LITMUS(2, 32)

// A relaxed reduction of a third thread continues the release that it read, as any atomic does.
// expect: none
// weak: never
// result: x 42 out 42
#include <cuda/atomic>

#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  const cuda::atomic_ref<int, cuda::thread_scope_device> ready(flag[0]);
  if (THREAD(0, 0)) {
    x[0] = 42;
    ready.store(1, cuda::memory_order_release);
  }
  if (THREAD(1, 0)) {
    while (ready.load(cuda::memory_order_relaxed) == 0) {
    }
    asm volatile("red.relaxed.gpu.global.add.s32 [%0], 1;" ::"l"(__cvta_generic_to_global(flag))
                 : "memory");
  }
  if (THREAD(2, 0)) {
    while (ready.load(cuda::memory_order_acquire) != 2) {
    }
    out[0] = x[0];
  }
}

LITMUS(3, 32)

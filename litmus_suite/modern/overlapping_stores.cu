// Stores of three sizes to the same bytes, then a release: another block sees them in their order.
// expect: none
// weak: never
// result: x 42 out 42
#include <cuda/atomic>

#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  const cuda::atomic_ref<int, cuda::thread_scope_device> ready(flag[0]);
  if (THREAD(0, 0)) {
    *reinterpret_cast<volatile long long*>(x) = 0x1111111122222222;
    volatile int* const words = x;
    words[0] = 0x3333;
    words[1] = 0;
    *reinterpret_cast<volatile short*>(x) = 42;
    ready.store(1, cuda::memory_order_release);
  }
  if (THREAD(1, 0)) {
    while (ready.load(cuda::memory_order_acquire) == 0) {
    }
    out[0] = x[0];
  }
}

LITMUS(2, 32)

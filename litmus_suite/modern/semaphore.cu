// A semaphore of the device hands data to another block.
// expect: none
// weak: never
// result: x 42 out 42
#include <cuda/semaphore>

#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  // Zeroed memory is a semaphore that nobody has released yet.
  auto* const ready =
      reinterpret_cast<cuda::counting_semaphore<cuda::thread_scope_device, 4>*>(flag);
  if (THREAD(0, 0)) {
    x[0] = 42;
    ready->release();
  }
  if (THREAD(1, 0)) {
    ready->acquire();
    out[0] = x[0];
  }
}

LITMUS(2, 32)

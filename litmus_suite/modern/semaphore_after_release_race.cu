// The data is written after the semaphore's release.
// expect: race inter-block global
// weak: never
#include <cuda/semaphore>

#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  auto* const ready =
      reinterpret_cast<cuda::counting_semaphore<cuda::thread_scope_device, 4>*>(flag);
  if (THREAD(0, 0)) {
    ready->release();
    x[0] = 42;  // RACE
  }
  if (THREAD(1, 0)) {
    ready->acquire();
    out[0] = x[0];  // RACE
  }
}

LITMUS(2, 32)

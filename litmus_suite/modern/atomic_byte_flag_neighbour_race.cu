// What is released is the neighbour of the byte that is waited for.
// expect: race inter-block global
// weak: never
#include <cuda/atomic>

#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  unsigned char* const bytes = reinterpret_cast<unsigned char*>(flag);
  const cuda::atomic_ref<unsigned char, cuda::thread_scope_device> ready(bytes[3]), other(bytes[2]);
  if (THREAD(0, 0)) {
    ready.store(1, cuda::memory_order_release);
    x[0] = 42;  // RACE
    other.store(1, cuda::memory_order_release);
  }
  if (THREAD(1, 0)) {
    while (ready.load(cuda::memory_order_acquire) == 0) {
    }
    out[0] = x[0];  // RACE
  }
}

LITMUS(2, 32)

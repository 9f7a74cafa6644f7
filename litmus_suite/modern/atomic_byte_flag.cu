// A flag of one byte: a release and an acquire, though the first is a compare-and-swap of a word
// and the second a load of half of it.
//
// expect: none
// weak: never
// result: x 42 out 42
#include <cuda/atomic>

#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  unsigned char* const bytes = reinterpret_cast<unsigned char*>(flag);
  const cuda::atomic_ref<unsigned char, cuda::thread_scope_device> ready(bytes[3]);
  if (THREAD(0, 0)) {
    x[0] = 42;
    ready.store(1, cuda::memory_order_release);
  }
  if (THREAD(1, 0)) {
    while (ready.load(cuda::memory_order_acquire) == 0) {
    }
    out[0] = x[0];
  }
}

LITMUS(2, 32)

// A byte is counted in by one block and read by another; its neighbour in the word is nobody
// else's.
//
// expect: race inter-block global
// weak: never
#include <cuda/atomic>

#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  unsigned char* const bytes = reinterpret_cast<unsigned char*>(x);
  if (THREAD(0, 0)) {
    const cuda::atomic_ref<unsigned char, cuda::thread_scope_device> count(bytes[1]);
    count.fetch_add(1, cuda::memory_order_relaxed);  // RACE
  }
  if (THREAD(1, 0)) {
    bytes[2] = 5;
    out[0] = bytes[1];  // RACE
  }
}

LITMUS(2, 32)

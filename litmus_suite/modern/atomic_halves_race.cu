// One block counts in the lower half of a word, another clears both halves by a plain store.
// expect: race inter-block global
// weak: never
#include <cuda/atomic>

#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (THREAD(0, 0)) {
    unsigned short* const halves = reinterpret_cast<unsigned short*>(x);
    const cuda::atomic_ref<unsigned short, cuda::thread_scope_device> count(halves[0]);
    count.fetch_add(1, cuda::memory_order_relaxed);  // RACE
  }
  if (THREAD(1, 0)) {
    x[0] = 0;  // RACE
  }
}

LITMUS(2, 32)

// The halves of a word: one is exchanged by all blocks, the other is the first block's to read and
// write.
// expect: none
// weak: never
// result: x 262144 out 3
#include <cuda/atomic>

#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  unsigned short* const halves = reinterpret_cast<unsigned short*>(x);
  const cuda::atomic_ref<unsigned short, cuda::thread_scope_device> last(halves[1]);
  if (THREAD(0, 0)) {
    halves[0] = 3;
    out[0] = halves[0];
    halves[0] = 0;
  }
  last.exchange(4, cuda::memory_order_relaxed);
}

LITMUS(2, 64)

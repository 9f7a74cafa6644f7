// Bytes of one word: two are counted in by threads of all blocks, one is set by the block's own
// threads, and one is written and read again by plain accesses. libcu++ makes the atomics of
// compare-and-swap loops on the word.
// expect: none
// weak: never
// result: x 1082130432 out 7
#include <cuda/atomic>

#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  unsigned char* const bytes = reinterpret_cast<unsigned char*>(x);
  const cuda::atomic_ref<unsigned char, cuda::thread_scope_device> count(bytes[2]), all(bytes[3]);
  if (THREAD(0, 0)) {
    bytes[0] = 7;
    out[0] = bytes[0];
    bytes[0] = 0;
  }
  count.fetch_add(1, cuda::memory_order_relaxed);
  all.fetch_or(64, cuda::memory_order_acq_rel);
  static_cast<void>(all.load(cuda::memory_order_relaxed));
}

LITMUS(2, 64)

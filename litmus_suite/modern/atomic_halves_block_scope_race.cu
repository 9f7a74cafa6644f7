// Atomics of a half-word are of the block's scope, and another block makes them as well.
// expect: race inter-block global
// weak: never
// expect paper: none
#include <cuda/atomic>

#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  unsigned short* const halves = reinterpret_cast<unsigned short*>(x);
  const cuda::atomic_ref<unsigned short, cuda::thread_scope_block> count(halves[blockIdx.x]);
  const cuda::atomic_ref<unsigned short, cuda::thread_scope_block> shared(halves[2]);
  if (threadIdx.x == 0) {
    count.fetch_add(1, cuda::memory_order_relaxed);
    shared.fetch_max(1, cuda::memory_order_relaxed);  // RACE
  }
}

LITMUS(2, 32)

// Store buffering with fence.sc: whoever sees the other's flag unset goes on alone.
// expect: none
// weak: never
// result: x 42 out 42
#include <cuda/atomic>

#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  if (threadIdx.x == 0) {
    const cuda::atomic_ref<int, cuda::thread_scope_device> mine(flag[blockIdx.x]);
    const cuda::atomic_ref<int, cuda::thread_scope_device> theirs(flag[1 - blockIdx.x]);
    x[blockIdx.x] = 21;
    cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
    mine.store(1, cuda::memory_order_relaxed);
    while (theirs.load(cuda::memory_order_relaxed) == 0) {
    }
    cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
    out[blockIdx.x] = x[1 - blockIdx.x];
  }
}

LITMUS(2, 32)

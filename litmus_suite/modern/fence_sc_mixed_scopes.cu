// Store buffering among three threads, two of them of one block, one of whose fences is for the
// block only: all fences include each other pairwise where they must, so not all three read 0.
// expect: none
// weak: never
// result: x 3 out 1
#include <cuda/atomic>

#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  using Word = cuda::atomic_ref<int, cuda::thread_scope_device>;
  int read = 0;
  if (THREAD(0, 0)) {
    Word(x[0]).store(1, cuda::memory_order_relaxed);
    cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_block);
    read = Word(x[2]).load(cuda::memory_order_relaxed);
  } else if (THREAD(0, 32)) {
    Word(x[2]).store(1, cuda::memory_order_relaxed);
    cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
    read = Word(x[1]).load(cuda::memory_order_relaxed);
  } else if (THREAD(1, 0)) {
    Word(x[1]).store(1, cuda::memory_order_relaxed);
    cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
    read = Word(x[0]).load(cuda::memory_order_relaxed);
  } else {
    return;
  }
  Word(flag[0]).fetch_add(read, cuda::memory_order_relaxed);
  if (Word(flag[1]).fetch_add(1, cuda::memory_order_acq_rel) == 2) {
    out[0] = flag[0] != 0;
  }
}

LITMUS(2, 64)

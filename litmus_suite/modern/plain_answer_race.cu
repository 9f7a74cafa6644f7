// The twin of relaxed_answer with plain stores, which nobody need ever see.
// expect: race inter-block global
// weak: starves
// result: x 16 out 2
#include <cuda/atomic>

#include "../litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  const cuda::atomic_ref<int, cuda::thread_scope_device> other(x[1 - blockIdx.x]);
  if (threadIdx.x == 0) {
    for (int i = 1; i <= 8; ++i) {
      asm volatile("st.weak.global.s32 [%0], %1;" ::"l"(&x[blockIdx.x]), "r"(i));  // RACE
      while (other.load(cuda::memory_order_relaxed) < i) {                         // RACE
      }
    }
    out[blockIdx.x] = 1;
  }
}

LITMUS(2, 32)

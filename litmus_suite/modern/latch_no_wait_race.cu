// Nobody waits for the latch.
// expect: race intra-block shared
// variable: s[]
// weak: fails
#include <new>

#include <cuda/latch>

#include "../litmus.h"

using Latch = cuda::latch<cuda::thread_scope_block>;

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ alignas(Latch) char storage[sizeof(Latch)];
  __shared__ int s[128];
  auto* const latch = reinterpret_cast<Latch*>(storage);
  if (threadIdx.x == 0) {
    new (storage) Latch(96);
  }
  __syncthreads();
  if (threadIdx.x >= 32) {
    s[threadIdx.x] = threadIdx.x;  // RACE
    latch->count_down();
  } else {
    out[threadIdx.x] = s[threadIdx.x + 32];  // RACE
  }
}

LITMUS(1, 128)

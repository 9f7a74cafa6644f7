// A pipeline of two stages, whose consumers read the stage that is being filled: the copy does hold
// up an arrival, but another one than that which was waited for.
// flags: -std=c++17 -arch=sm_80 -diag-suppress=20054
// expect: race intra-block shared
// missing: the asynchronous copy is not waited for: the wait .* is for another phase or mbarrier
#include <cooperative_groups.h>
#include <cuda/pipeline>

#include "../../../litmus_suite/litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  __shared__ int tile[2][16];
  const auto block = cooperative_groups::this_thread_block();
  auto pipeline = cuda::make_pipeline(block, &state);
  int sum = 0;
  for (int round = 0; round < 3; ++round) {
    if (round < 2) {
      pipeline.producer_acquire();
      cuda::memcpy_async(block, tile[round & 1], x, sizeof tile[0], pipeline);  // RACE
      pipeline.producer_commit();
    }
    if (round > 0) {
      pipeline.consumer_wait();
      sum += tile[round & 1][threadIdx.x & 15];  // RACE
      pipeline.consumer_release();
    }
  }
  out[threadIdx.x] = sum;
}

LITMUS(1, 64)

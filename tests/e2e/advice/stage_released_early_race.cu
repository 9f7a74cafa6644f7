// Consumers give a stage back before they have read it: the read comes behind the arrival that the
// producer waits for. At the next arrival, which is at another mbarrier, nobody waits for it.
// flags: -std=c++17 -arch=sm_80 -diag-suppress=20054
// expect: race intra-block shared
// missing: the read comes after the arrival .* that the other thread waited for
#include <cooperative_groups.h>
#include <cuda/pipeline>

#include "../../../litmus_suite/litmus.h"

__global__ void litmus(int* x, int* flag, int* out) {
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  __shared__ int tile[2][32];
  const int lane = threadIdx.x % 32;
  const bool produces = threadIdx.x < 32;
  auto pipeline =
      cuda::make_pipeline(cooperative_groups::this_thread_block(), &state,
                          produces ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
  int sum = 0;
  for (int round = 0; round < 6; ++round) {
    int* const stage = tile[round & 1];
    if (produces) {
      pipeline.producer_acquire();
      stage[lane] = round + lane;  // RACE
      pipeline.producer_commit();
    } else {
      pipeline.consumer_wait();
      pipeline.consumer_release();
      sum += stage[31 - lane];  // RACE
    }
  }
  out[threadIdx.x] = sum;
}

LITMUS(1, 64)

// The first tile is loaded anew when it has come, before anybody has said that it is read.
// expect: race intra-block shared
// variable: tiles tiles[] tiles[][]
// weak: never
// flags: -gencode arch=compute_90a,code=[compute_90a,sm_90a]
#include "../pipeline.h"

__global__ void tensor_litmus(const __grid_constant__ CUtensorMap map, int* x, int* flag,
                              int* out) {
  __shared__ alignas(128) int tiles[kStages][kStageCells];
  __shared__ alignas(128) int sums[kStageCells];
  __shared__ MBarrier full[kStages], empty[kStages];
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < kStages; ++stage) {
      MBARRIER_INIT(&full[stage], 1);
      MBARRIER_INIT(&empty[stage], 2);
    }
    FENCE_PROXY_ASYNC();
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int load = 0; load < kLoads; ++load) {
      const int stage = load % kStages;
      if (load >= kStages) {
        MBARRIER_WAIT(load == kStages ? &full[stage] : &empty[stage], load / kStages % 2 ^ 1);
      }
      MBARRIER_ARRIVE_EXPECT(&full[stage], kStageBytes);
      TENSOR_LOAD(tiles[stage], &map, 0, 16 * load, &full[stage]);  // RACE
    }
  }
  if (threadIdx.x >= 128) {
    const int own = (threadIdx.x / 128 - 1) * kHalfStage;
    int d[4] = {};
    for (int load = 0; load < kLoads; ++load) {
      const int stage = load % kStages;
      MBARRIER_WAIT(&full[stage], load / kStages % 2);
      WGMMA_FENCE();
      WGMMA_S8(d, matrix_of(tiles[stage] + own), matrix_of(tiles[stage]));  // RACE
      WGMMA_COMMIT();
      WGMMA_WAIT(0);
      if (threadIdx.x % 128 == 0) {
        MBARRIER_ARRIVE(&empty[stage]);
      }
    }
    WGMMA_RESULT_S8(d);
    for (int i = 0; i < 4; ++i) {
      sums[(threadIdx.x - 128) * 4 + i] = d[i];
    }
    FENCE_PROXY_ASYNC();
    CONSUMERS_BARRIER();
    if (threadIdx.x == 128) {
      TENSOR_STORE(&map, 0, 0, sums);
      BULK_COMMIT();
      BULK_WAIT();
    }
    CONSUMERS_BARRIER();
    out[threadIdx.x] = x[threadIdx.x - 128];
  }
}

TENSOR_LITMUS(1, 384, kStageTile)

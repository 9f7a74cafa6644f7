// A product as CUTLASS makes it: a thread of the first warpgroup loads tiles of x by a tensor map,
// two warpgroups multiply them. Each program (warpgroup_pipeline*.cu) says in what its own differs.
// All lines that race in one of them are marked.
//
// A tile is 128 rows of 32 bytes, in core matrices; each consumer has 64 of them as its A, and both
// have the first eight as B.
#pragma once

#include "tensor.h"
#include "wgmma.h"

// Arrivals that free a buffer, and products that may be pending when it is called read.
#ifndef ARRIVALS
#  define ARRIVALS 2
#endif
#ifndef PENDING
#  define PENDING 0
#endif
// What comes before a buffer is filled again, who says that he has read it, and what comes before
// that.
#ifndef WAIT_FOR_ROOM
#  define WAIT_FOR_ROOM(load, stage, parity) MBARRIER_WAIT(&empty[stage], parity)
#endif
#ifndef SAYS_READ
#  define SAYS_READ(load) (threadIdx.x % 128 == 0)
#endif
#ifndef WAIT_FOR_TILE
#  define WAIT_FOR_TILE(stage, parity) MBARRIER_WAIT(&full[stage], parity)
#endif
#ifndef SHOW_SUMS
#  define SHOW_SUMS() FENCE_PROXY_ASYNC()
#endif

constexpr int kStages = 2, kLoads = 4;
constexpr int kStageCells = 1024, kHalfStage = kStageCells / 2;
constexpr int kStageBytes = 4096;
constexpr int kArrivals = ARRIVALS, kPending = PENDING;
constexpr Tensor kStageTile = {2, {64, 64, 1}, {64, 16, 1}};

__device__ inline unsigned long long matrix_of(const int* tile) {
  return tile_of(reinterpret_cast<const __half*>(tile));
}

// Of the 256 threads that multiply.
#define CONSUMERS_BARRIER() asm volatile("bar.sync 1, 256;" ::: "memory")

__global__ void tensor_litmus(const __grid_constant__ CUtensorMap map, int* x, int* flag,
                              int* out) {
  __shared__ alignas(128) int tiles[kStages][kStageCells];
  __shared__ alignas(128) int sums[kStageCells];
  __shared__ MBarrier full[kStages], empty[kStages];
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < kStages; ++stage) {
      MBARRIER_INIT(&full[stage], 1);
      MBARRIER_INIT(&empty[stage], kArrivals);
    }
    FENCE_PROXY_ASYNC();
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int load = 0; load < kLoads; ++load) {
      const int stage = load % kStages;
      if (load >= kStages) {
        WAIT_FOR_ROOM(load, stage, load / kStages % 2 ^ 1);
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
      WAIT_FOR_TILE(stage, load / kStages % 2);
      WGMMA_FENCE();
      WGMMA_S8(d, matrix_of(tiles[stage] + own), matrix_of(tiles[stage]));  // RACE
      WGMMA_COMMIT();
      WGMMA_WAIT(kPending);
      if (SAYS_READ(load)) {
        MBARRIER_ARRIVE(&empty[stage]);
      }
    }
    WGMMA_WAIT(0);
    WGMMA_RESULT_S8(d);
    for (int i = 0; i < 4; ++i) {
      sums[(threadIdx.x - 128) * 4 + i] = d[i];  // RACE
    }
    SHOW_SUMS();
    CONSUMERS_BARRIER();
    if (threadIdx.x == 128) {
      TENSOR_STORE(&map, 0, 0, sums);  // RACE
      BULK_COMMIT();
      BULK_WAIT();
    }
    CONSUMERS_BARRIER();
    out[threadIdx.x] = x[threadIdx.x - 128];
  }
}

TENSOR_LITMUS(1, 384, kStageTile)

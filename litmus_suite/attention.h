// Attention as FlashAttention-3 makes it: a thread of the first warpgroup loads queries, and then
// keys and values stage after stage, by a tensor map; two warpgroups have 64 queries each. They
// take turns at the tensor cores by named barriers: while one multiplies, the other makes weights
// of its scores. Each program (attention*.cu) says in what its own differs. All lines that race in
// one of them are marked.
//
// Whole numbers of a byte stand for halves, and two bits of a score for its exponential. A query, a
// key and the weights of a query have 32 bytes, a stage 32 keys and 8 rows of values; all lie in
// core matrices.
#pragma once

#include "tensor.h"
#include "wgmma.h"

// What shows the weights to the second product, and when a stage is said to be read.
#ifndef SHOW_WEIGHTS
#  define SHOW_WEIGHTS() FENCE_PROXY_ASYNC()
#endif
#ifndef FREES_EARLY
#  define FREES_EARLY false
#endif

constexpr int kStages = 2, kLoads = 6, kKeyGroups = 4;
constexpr int kStageCells = 1024, kStageBytes = 4096;
constexpr int kQueryCells = 64 * 8, kKeyGroupCells = 8 * 8, kKeyCells = kKeyGroups * kKeyGroupCells;
constexpr Tensor kStageTile = {2, {64, 64, 1}, {64, 16, 1}};

__device__ inline unsigned long long matrix_of(const int* tile) {
  return tile_of(reinterpret_cast<const __half*>(tile));
}

// Of the warpgroup `group` (0 or 1), 128 threads; and its turn, for which the other one arrives.
#define GROUP_BARRIER(group) asm volatile("bar.sync %0, 128;" ::"r"(3 + (group)) : "memory")
#define TAKE_TURN(group) asm volatile("bar.sync %0, 256;" ::"r"(1 + (group)) : "memory")
#define GIVE_TURN(group) asm volatile("bar.arrive %0, 256;" ::"r"(2 - (group)) : "memory")

__global__ void tensor_litmus(const __grid_constant__ CUtensorMap map, int* x, int* flag,
                              int* out) {
  __shared__ alignas(128) int queries[2 * kQueryCells];
  __shared__ alignas(128) int stages[kStages][kStageCells];
  __shared__ alignas(128) int weights[2 * kQueryCells];
  __shared__ MBarrier there, full[kStages], empty[kStages];
  if (threadIdx.x == 0) {
    MBARRIER_INIT(&there, 1);
    for (int stage = 0; stage < kStages; ++stage) {
      MBARRIER_INIT(&full[stage], 1);
      MBARRIER_INIT(&empty[stage], 2);
    }
    FENCE_PROXY_ASYNC();
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    MBARRIER_ARRIVE_EXPECT(&there, kStageBytes);
    TENSOR_LOAD(queries, &map, 0, 0, &there);
    for (int load = 0; load < kLoads; ++load) {
      const int stage = load % kStages;
      if (load >= kStages) {
        MBARRIER_WAIT(&empty[stage], load / kStages % 2 ^ 1);
      }
      MBARRIER_ARRIVE_EXPECT(&full[stage], kStageBytes);
      TENSOR_LOAD(stages[stage], &map, 0, 16 * (1 + load % 3), &full[stage]);  // RACE
    }
  }
  if (threadIdx.x >= 128) {
    const int group = threadIdx.x / 128 - 1;
    const int own = group * kQueryCells;
    const int row = threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4;
    auto* const own_weights = reinterpret_cast<char*>(weights + own);
    int sums[4] = {};
    if (group == 1) {
      GIVE_TURN(group);
    }
    MBARRIER_WAIT(&there, 0);
    for (int load = 0; load < kLoads; ++load) {
      const int stage = load % kStages;
      MBARRIER_WAIT(&full[stage], load / kStages % 2);
      TAKE_TURN(group);
      int scores[kKeyGroups][4] = {};
      WGMMA_FENCE();
      for (int keys = 0; keys < kKeyGroups; ++keys) {
        const int* const group_of_keys = stages[stage] + keys * kKeyGroupCells;
        WGMMA_S8(scores[keys], matrix_of(queries + own), matrix_of(group_of_keys));  // RACE
      }
      WGMMA_COMMIT();
      WGMMA_WAIT(0);
      if (group == 0 || load + 1 < kLoads) {
        GIVE_TURN(group);
      }
      if (FREES_EARLY && threadIdx.x % 128 == 0) {
        MBARRIER_ARRIVE(&empty[stage]);
      }
      for (int keys = 0; keys < kKeyGroups; ++keys) {
        WGMMA_RESULT_S8(scores[keys]);
        for (int i = 0; i < 4; ++i) {
          const int query = row + i / 2 * 8;
          const int key = keys * 8 + threadIdx.x % 4 * 2 + i % 2;
          const int at = query / 8 * 256 + key / 16 * 128 + query % 8 * 16 + key % 16;
          own_weights[at] = static_cast<char>(scores[keys][i] >> 6 & 3);  // RACE
        }
      }
      SHOW_WEIGHTS();
      GROUP_BARRIER(group);
      WGMMA_FENCE();
      WGMMA_S8(sums, matrix_of(weights + own), matrix_of(stages[stage] + kKeyCells));  // RACE
      WGMMA_COMMIT();
      WGMMA_WAIT(0);
      if (!FREES_EARLY && threadIdx.x % 128 == 0) {
        MBARRIER_ARRIVE(&empty[stage]);
      }
    }
    WGMMA_RESULT_S8(sums);
    for (int i = 0; i < 4; ++i) {
      out[(threadIdx.x - 128) * 4 + i] = sums[i];
    }
  }
}

TENSOR_LITMUS(1, 384, kStageTile)

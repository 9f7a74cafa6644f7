// What the warp-specialised products share (warpgroup_pipeline*.cu): a thread of the first
// warpgroup loads tiles of x by a tensor map, two warpgroups multiply them.
//
// A tile is 128 rows of 32 bytes, in core matrices; each consumer has 64 of them as its A, and both
// have the first eight as B.
#pragma once

#include "tensor.h"
#include "wgmma.h"

constexpr int kStages = 2, kLoads = 4;
constexpr int kStageCells = 1024, kHalfStage = kStageCells / 2;
constexpr int kStageBytes = 4096;
constexpr Tensor kStageTile = {2, {64, 64, 1}, {64, 16, 1}};

__device__ inline unsigned long long matrix_of(const int* tile) {
  return tile_of(reinterpret_cast<const __half*>(tile));
}

// Of the 256 threads that multiply.
#define CONSUMERS_BARRIER() asm volatile("bar.sync 1, 256;" ::: "memory")

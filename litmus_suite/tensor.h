// Copies of boxes of tensors by tensor maps, and what a litmus program with one map needs: it
// includes this, defines the kernel `tensor_litmus`, and ends with TENSOR_LITMUS(grid, block,
// tensor). Macros, so that a finding names the line of the program.
#pragma once

#include <cstdint>

#include <cuda.h>

#include "async_copy.h"
#include "cells.h"

#define TENSOR_LOAD(to, map, x, y, bar)                                                         \
  asm volatile(                                                                                 \
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], " \
      "[%1, {%2, %3}], [%4];" ::"r"(SHARED_ADDRESS(to)),                                        \
      "l"(map), "r"(x), "r"(y), "r"(SHARED_ADDRESS(bar))                                        \
      : "memory")
#define TENSOR_LOAD_MULTICAST(to, map, x, y, bar, ctas)                                         \
  asm volatile(                                                                                 \
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes."       \
      "multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(SHARED_ADDRESS(to)),           \
      "l"(map), "r"(x), "r"(y), "r"(SHARED_ADDRESS(bar)), "h"(static_cast<std::uint16_t>(ctas)) \
      : "memory")
#define TENSOR_STORE(map, x, y, from)                                                           \
  asm volatile(                                                                                 \
      "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"( \
          map),                                                                                 \
      "r"(x), "r"(y), "r"(SHARED_ADDRESS(from))                                                 \
      : "memory")
#define TENSOR_ADD(map, x, y, from)                                                            \
  asm volatile(                                                                                \
      "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%0, {%1, %2}], " \
      "[%3];" ::"l"(map),                                                                      \
      "r"(x), "r"(y), "r"(SHARED_ADDRESS(from))                                                \
      : "memory")

// The cells of x as a tensor of whole numbers, and the box that a copy moves.
struct Tensor {
  unsigned rank;
  unsigned sizes[3];
  unsigned box[3];
  CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
};

// 64 by 64, in tiles of 8 by 8: 256 bytes.
constexpr Tensor kTiles = {2, {64, 64, 1}, {8, 8, 1}};
constexpr int kTileBytes = 256;

inline bool encode(CUtensorMap& map, int* x, const Tensor& tensor) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found;
  if (!succeeded(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000,
                                                  cudaEnableDefault, &found)) ||
      found != cudaDriverEntryPointSuccess) {
    return false;
  }
  cuuint64_t sizes[3], strides[3];
  cuuint32_t box[3], steps[3];
  cuuint64_t stride = sizeof(int);
  for (unsigned i = 0; i < 3; ++i) {
    sizes[i] = tensor.sizes[i];
    box[i] = tensor.box[i];
    steps[i] = 1;
    stride *= sizes[i];
    strides[i] = stride;
  }
  const CUresult status = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(function)(
      &map, CU_TENSOR_MAP_DATA_TYPE_INT32, tensor.rank, x, sizes, strides, box, steps,
      CU_TENSOR_MAP_INTERLEAVE_NONE, tensor.swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (status != CUDA_SUCCESS) {
    std::fprintf(stderr, "cuTensorMapEncodeTiled: %d\n", static_cast<int>(status));
  }
  return status == CUDA_SUCCESS;
}

__global__ void tensor_litmus(const __grid_constant__ CUtensorMap map, int* x, int* flag, int* out);

// Cell i of x is i at first.
inline bool make_tensor_cells(Cells& cells) {
  static int numbers[kCells];
  for (int i = 0; i < kCells; ++i) {
    numbers[i] = i;
  }
  return make_cells(cells) &&
         succeeded(cudaMemcpy(cells.x, numbers, sizeof numbers, cudaMemcpyHostToDevice));
}

inline int run_tensor_litmus(dim3 grid, dim3 block, const Tensor& tensor) {
  Cells cells;
  CUtensorMap map;
  if (!make_tensor_cells(cells) || !encode(map, cells.x, tensor)) {
    return 1;
  }
  tensor_litmus<<<grid, block>>>(map, cells.x, cells.flag, cells.out);
  return succeeded(cudaDeviceSynchronize()) ? print_cells(cells) : 1;
}

#define TENSOR_LITMUS(grid, block, tensor)         \
  int main() {                                     \
    return run_tensor_litmus(grid, block, tensor); \
  }

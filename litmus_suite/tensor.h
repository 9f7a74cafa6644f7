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
// x: the first channel; y: the column and the line of the first pixel; z: the image. `across` and
// `down`: from each pixel to the one that is copied.
#define TENSOR_LOAD_PIXELS(to, map, x, y, line, image, bar, across, down)                         \
  asm volatile(                                                                                   \
      "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], " \
      "[%1, {%2, %3, %4, %5}], [%6], {%7, %8};" ::"r"(SHARED_ADDRESS(to)),                        \
      "l"(map), "r"(x), "r"(y), "r"(line), "r"(image), "r"(SHARED_ADDRESS(bar)),                  \
      "h"(static_cast<std::uint16_t>(across)), "h"(static_cast<std::uint16_t>(down))              \
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

// The driver's function, or null.
template <typename Function>
Function* driver_function(const char* name) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found;
  if (!succeeded(
          cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found)) ||
      found != cudaDriverEntryPointSuccess) {
    return nullptr;
  }
  return reinterpret_cast<Function*>(function);
}

inline bool encode(CUtensorMap& map, int* x, const Tensor& tensor) {
  auto* const encode_tiled =
      driver_function<decltype(cuTensorMapEncodeTiled)>("cuTensorMapEncodeTiled");
  if (encode_tiled == nullptr) {
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
  const CUresult status =
      encode_tiled(&map, CU_TENSOR_MAP_DATA_TYPE_INT32, tensor.rank, x, sizes, strides, box, steps,
                   CU_TENSOR_MAP_INTERLEAVE_NONE, tensor.swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                   CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (status != CUDA_SUCCESS) {
    std::fprintf(stderr, "cuTensorMapEncodeTiled: %d\n", static_cast<int>(status));
  }
  return status == CUDA_SUCCESS;
}

// Two images of 16 by 16 pixels with 8 channels. A copy moves 8 pixels with all of them, within a
// box that leaves out the last column and line: those are for offsets of 1.
constexpr int kImageSide = 16, kChannels = 8, kPixels = 8, kPixelBytes = kPixels * kChannels * 4;

inline bool encode_pixels(CUtensorMap& map, int* x) {
  auto* const encode_im2col =
      driver_function<decltype(cuTensorMapEncodeIm2col)>("cuTensorMapEncodeIm2col");
  if (encode_im2col == nullptr) {
    return false;
  }
  const cuuint64_t sizes[4] = {kChannels, kImageSide, kImageSide, 2};
  const cuuint64_t strides[3] = {32, 512, 8192};
  const int lower[2] = {0, 0}, upper[2] = {-1, -1};
  const cuuint32_t steps[4] = {1, 1, 1, 1};
  const CUresult status = encode_im2col(
      &map, CU_TENSOR_MAP_DATA_TYPE_INT32, 4, x, sizes, strides, lower, upper, kChannels, kPixels,
      steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
      CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (status != CUDA_SUCCESS) {
    std::fprintf(stderr, "cuTensorMapEncodeIm2col: %d\n", static_cast<int>(status));
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

template <typename Encode>
int run_tensor_litmus(dim3 grid, dim3 block, const Encode& encode_map) {
  Cells cells;
  CUtensorMap map;
  if (!make_tensor_cells(cells) || !encode_map(map, cells.x)) {
    return 1;
  }
  tensor_litmus<<<grid, block>>>(map, cells.x, cells.flag, cells.out);
  return succeeded(cudaDeviceSynchronize()) ? print_cells(cells) : 1;
}

#define TENSOR_LITMUS(grid, block, tensor)                                                     \
  int main() {                                                                                 \
    return run_tensor_litmus(grid, block,                                                      \
                             [](CUtensorMap& map, int* x) { return encode(map, x, tensor); }); \
  }
#define PIXEL_LITMUS(grid, block)                          \
  int main() {                                             \
    return run_tensor_litmus(grid, block, &encode_pixels); \
  }

// Products of a warpgroup. Macros, so that a finding names the line of the program.
//
// A tile is of halves, 16 columns wide, without swizzle: core matrices of 8 rows of 8 elements, two
// of them side by side, then those of the next 8 rows.
#pragma once

#include <cuda_fp16.h>

#include "async_copy.h"

#define TILE_A_HALVES (64 * 16)
#define TILE_B_HALVES (8 * 16)

// The row of the element that lies at `index` of a tile.
__device__ inline int row_in_tile(int index) {
  return index / 128 * 8 + index / 8 % 8;
}

// Its matrix descriptor.
__device__ inline unsigned long long tile_of(const __half* tile) {
  constexpr unsigned long long kLeading = 128, kStride = 256;
  const unsigned long long start = SHARED_ADDRESS(tile);
  return (start & 0x3FFFF) >> 4 | kLeading >> 4 << 16 | kStride >> 4 << 32;
}

// d[4] += a * b, 64 x 8 sums of 16 products, later.
#define WGMMA(d, a, b)                                                                             \
  asm volatile(                                                                                    \
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;" \
      : "+f"((d)[0]), "+f"((d)[1]), "+f"((d)[2]), "+f"((d)[3])                                     \
      : "l"(a), "l"(b)                                                                             \
      : "memory")
// The same of bytes, of which a row of a tile has 32: whole numbers.
#define WGMMA_S8(d, a, b)                                                                     \
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%0, %1, %2, %3}, %4, %5, 1;" \
               : "+r"((d)[0]), "+r"((d)[1]), "+r"((d)[2]), "+r"((d)[3])                       \
               : "l"(a), "l"(b)                                                               \
               : "memory")
// The same of an A of which a tile has the elements that are stored: of four that follow each other
// along K two, which ones says `metadata`. K is 32, and a row of B has 32 halves in four core
// matrices side by side.
#define WGMMA_SPARSE(d, a, b, metadata)                                                     \
  asm volatile(                                                                             \
      "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, %6, " \
      "0, 1, 1, 1, 0, 0;"                                                                   \
      : "+f"((d)[0]), "+f"((d)[1]), "+f"((d)[2]), "+f"((d)[3])                              \
      : "l"(a), "l"(b), "r"(metadata)                                                       \
      : "memory")
#define FIRST_TWO_OF_FOUR 0x44444444
#define WGMMA_FENCE() asm volatile("wgmma.fence.sync.aligned;" ::: "memory")
#define WGMMA_COMMIT() asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory")
#define WGMMA_WAIT(left) asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(left) : "memory")
// What is computed of d comes after this: for the compiler d is there when the product is issued.
#define WGMMA_RESULT(d) \
  asm volatile("" : "+f"((d)[0]), "+f"((d)[1]), "+f"((d)[2]), "+f"((d)[3])::"memory")
#define WGMMA_RESULT_S8(d) \
  asm volatile("" : "+r"((d)[0]), "+r"((d)[1]), "+r"((d)[2]), "+r"((d)[3])::"memory")

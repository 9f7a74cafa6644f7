// Products and copies of Blackwell's tensor cores: tcgen05. Macros, so that a finding names the
// line of the program. One thread issues them; sums lie in tensor memory, of which one warp
// allocates columns.
//
// A tile is laid out as in wgmma.h.
#pragma once

#include "wgmma.h"

// Its matrix descriptor.
__device__ inline unsigned long long tensor_tile_of(const __half* tile) {
  return tile_of(tile) | 1ULL << 46;
}

// Sums of single precision, 64 x 8, of halves.
#define TENSOR_SHAPE (1U << 4 | 8U / 8 << 17 | 64U / 16 << 24)

// All lanes of a warp; `place` in shared memory gets the address.
#define TENSOR_ALLOC(place, columns)                                                      \
  asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"( \
                   SHARED_ADDRESS(place)),                                                \
               "n"(columns)                                                               \
               : "memory")
#define TENSOR_FREE(address, columns)                                                  \
  asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(address), \
               "n"(columns)                                                            \
               : "memory")
// d = a * b, later.
#define TENSOR_MMA(d, a, b)                                                    \
  asm volatile(                                                                \
      "{ .reg .pred adds; setp.ne.b32 adds, 0, 0; "                            \
      "tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, adds; }" ::"r"(d), \
      "l"(a), "l"(b), "r"(TENSOR_SHAPE)                                        \
      : "memory")
// 128 rows of 32 bytes, later.
#define TENSOR_COPY(to, from) \
  asm volatile("tcgen05.cp.cta_group::1.128x256b [%0], %1;" ::"r"(to), "l"(from) : "memory")
// Arrives at the mbarrier when all is done that its thread has issued before.
#define TENSOR_COMMIT(bar)                                                                 \
  asm volatile(                                                                            \
      "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"( \
          SHARED_ADDRESS(bar))                                                             \
      : "memory")

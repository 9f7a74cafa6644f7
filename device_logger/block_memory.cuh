// Words of what a block keeps (BlockPlace), which only its own threads access: relaxed, at the
// block's scope, so that a load of global memory may be answered by L1.
#pragma once

#include <cstdint>

#include "device_logger/shared_states.h"

namespace barracuda::wire {

// All threads of a block take the same way.
__device__ __forceinline__ bool is_in_shared(BlockPlace place) {
  return place >> 32 == 0;
}

__device__ __forceinline__ std::uint32_t shared_address(BlockPlace place) {
  return static_cast<std::uint32_t>(place);
}

__device__ __forceinline__ std::uint32_t load_block_word(BlockPlace place) {
  std::uint32_t word;
  if (is_in_shared(place)) {
    asm volatile("ld.relaxed.cta.shared.u32 %0, [%1];"
                 : "=r"(word)
                 : "r"(shared_address(place))
                 : "memory");
  } else {
    asm volatile("ld.relaxed.cta.global.u32 %0, [%1];" : "=r"(word) : "l"(place) : "memory");
  }
  return word;
}

__device__ __forceinline__ void store_block_word(BlockPlace place, std::uint32_t word) {
  if (is_in_shared(place)) {
    asm volatile("st.relaxed.cta.shared.u32 [%0], %1;" ::"r"(shared_address(place)), "r"(word)
                 : "memory");
  } else {
    asm volatile("st.relaxed.cta.global.u32 [%0], %1;" ::"l"(place), "r"(word) : "memory");
  }
}

__device__ __forceinline__ void set_block_bits(BlockPlace place, std::uint32_t bits) {
  if (is_in_shared(place)) {
    asm volatile("red.relaxed.cta.shared.or.b32 [%0], %1;" ::"r"(shared_address(place)), "r"(bits)
                 : "memory");
  } else {
    asm volatile("red.relaxed.cta.global.or.b32 [%0], %1;" ::"l"(place), "r"(bits) : "memory");
  }
}

__device__ __forceinline__ void raise_block_word(BlockPlace place, std::uint32_t least) {
  if (is_in_shared(place)) {
    asm volatile("red.relaxed.cta.shared.max.u32 [%0], %1;" ::"r"(shared_address(place)), "r"(least)
                 : "memory");
  } else {
    asm volatile("red.relaxed.cta.global.max.u32 [%0], %1;" ::"l"(place), "r"(least) : "memory");
  }
}

// What it was; acquire and release.
__device__ __forceinline__ std::uint32_t add_to_block_word(BlockPlace place, std::uint32_t more) {
  std::uint32_t before;
  if (is_in_shared(place)) {
    asm volatile("atom.acq_rel.cta.shared.add.u32 %0, [%1], %2;"
                 : "=r"(before)
                 : "r"(shared_address(place)), "r"(more)
                 : "memory");
  } else {
    asm volatile("atom.acq_rel.cta.global.add.u32 %0, [%1], %2;"
                 : "=r"(before)
                 : "l"(place), "r"(more)
                 : "memory");
  }
  return before;
}

__device__ __forceinline__ std::uint64_t load_block_state(BlockPlace place) {
  std::uint64_t bits;
  if (is_in_shared(place)) {
    asm volatile("ld.relaxed.cta.shared.u64 %0, [%1];"
                 : "=l"(bits)
                 : "r"(shared_address(place))
                 : "memory");
  } else {
    asm volatile("ld.relaxed.cta.global.u64 %0, [%1];" : "=l"(bits) : "l"(place) : "memory");
  }
  return bits;
}

__device__ __forceinline__ void store_block_state(BlockPlace place, std::uint64_t bits) {
  if (is_in_shared(place)) {
    asm volatile("st.relaxed.cta.shared.u64 [%0], %1;" ::"r"(shared_address(place)), "l"(bits)
                 : "memory");
  } else {
    asm volatile("st.relaxed.cta.global.u64 [%0], %1;" ::"l"(place), "l"(bits) : "memory");
  }
}

// What was met there: `bits`, or it is not changed.
__device__ __forceinline__ std::uint64_t change_block_state(BlockPlace place, std::uint64_t bits,
                                                            std::uint64_t next) {
  std::uint64_t met;
  if (is_in_shared(place)) {
    asm volatile("atom.relaxed.cta.shared.cas.b64 %0, [%1], %2, %3;"
                 : "=l"(met)
                 : "r"(shared_address(place)), "l"(bits), "l"(next)
                 : "memory");
  } else {
    asm volatile("atom.relaxed.cta.global.cas.b64 %0, [%1], %2, %3;"
                 : "=l"(met)
                 : "l"(place), "l"(bits), "l"(next)
                 : "memory");
  }
  return met;
}

}  // namespace barracuda::wire

// Which space a generic address lies in.
#pragma once

#include <cstdint>

#include "device_logger/logger_queue.cuh"
#include "device_logger/record.h"

namespace barracuda::wire {

// Shared-window addresses carry the CTA's rank in the cluster above these bits.
inline constexpr std::uint32_t kSharedOffsetMask = 0xFFFFFF;

__device__ __forceinline__ std::uint64_t tagged_own_shared(std::uint64_t generic) {
  std::uint64_t address;
  asm("cvta.to.shared.u64 %0, %1;" : "=l"(address) : "l"(generic));
  return tagged_address(AddressSpace::kShared, address & kSharedOffsetMask);
}

#if __CUDA_ARCH__ >= 900
// An address that mapa made: of another CTA of the cluster, or of this one. How far a CTA's window
// lies from that of another is the device's affair: what mapa makes of a word of ours says it.
__device__ __forceinline__ std::uint64_t tagged_cluster_shared(std::uint64_t generic) {
  std::uint64_t address, mapped;
  std::uint32_t rank, own;
  asm("cvta.to.shared::cluster.u64 %0, %1;" : "=l"(address) : "l"(generic));
  asm("getctarank.u64 %0, %1;" : "=r"(rank) : "l"(generic));
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(own));
  const auto word = static_cast<std::uint64_t>(__cvta_generic_to_shared(&__barracuda_block));
  asm("mapa.shared::cluster.u64 %0, %1, %2;" : "=l"(mapped) : "l"(word), "r"(rank));
  const std::uint64_t offset = address - mapped + (word & kSharedOffsetMask);
  return rank == own ? tagged_address(AddressSpace::kShared, offset)
                     : tagged_address(AddressSpace::kSharedCluster,
                                      static_cast<std::uint64_t>(rank) << 32 | offset);
}
#endif

// kNoAddress for local memory, parameters and constants.
__device__ __forceinline__ std::uint64_t tagged_generic(std::uint64_t generic) {
  std::uint32_t is_in;
  asm("{ .reg .pred p; isspacep.global p, %1; selp.u32 %0, 1, 0, p; }"
      : "=r"(is_in)
      : "l"(generic));
  if (is_in != 0) {
    return generic;
  }
  asm("{ .reg .pred p; isspacep.shared p, %1; selp.u32 %0, 1, 0, p; }"
      : "=r"(is_in)
      : "l"(generic));
  if (is_in != 0) {
    return tagged_own_shared(generic);
  }
#if __CUDA_ARCH__ >= 900
  asm("{ .reg .pred p; isspacep.shared::cluster p, %1; selp.u32 %0, 1, 0, p; }"
      : "=r"(is_in)
      : "l"(generic));
  if (is_in != 0) {
    return tagged_cluster_shared(generic);
  }
#endif
  return kNoAddress;
}

}  // namespace barracuda::wire

// Addresses on the device: which space a generic address lies in, and whether the addresses of the
// active lanes follow a pattern that fits a record's header.
#pragma once

#include <cstdint>

#include "device_logger/logger_queue.cuh"
#include "device_logger/record.h"

namespace barracuda::wire {

// What a lane has instead of an address if it touches memory that no other thread sees.
inline constexpr std::uint64_t kNoAddress = ~std::uint64_t{0};

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
  const auto word = static_cast<std::uint64_t>(__cvta_generic_to_shared(&__barracuda_descriptor));
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

// base + (l % w) * stride0 + (l / w) * stride1, as in record.h.
struct Pattern {
  bool found = false;
  bool may_overlap = false;  // some lanes may touch the same bytes
  std::uint32_t width_log2 = 5;
  std::int32_t stride0 = 0, stride1 = 0;
  std::uint64_t base = 0;
};

__device__ __forceinline__ bool is_int32(std::int64_t value) {
  return value == static_cast<std::int32_t>(value);
}

__device__ __forceinline__ bool is_int16(std::int32_t value) {
  return value == static_cast<std::int16_t>(value);
}

// The base stands for lane 0, which may be inactive and lie below its space: then there is no
// pattern.
__device__ __forceinline__ bool same_space(std::uint64_t left, std::uint64_t right) {
  return left >> kSpaceShift == right >> kSpaceShift;
}

// delta / lanes, if that is exact and both fit.
__device__ __forceinline__ bool stride_of(std::int64_t delta, std::int32_t lanes,
                                          std::int32_t& stride) {
  const auto narrow = static_cast<std::int32_t>(delta);
  stride = narrow;
  if (lanes != 1) {
    stride = narrow / lanes;
  }
  return is_int32(delta) && stride * lanes == narrow;
}

// Rows of a power of two of lanes: `breaks` is the first lane that leaves the line of the lanes
// below it.
__device__ __forceinline__ Pattern find_rows(std::uint64_t address, const Lanes& lanes,
                                             std::uint64_t first, std::int32_t stride0,
                                             std::uint32_t breaks) {
  Pattern pattern;
  const auto below = lanes.mask & ((1U << breaks) - 1);
  const auto previous = static_cast<std::uint32_t>(31 - __clz(static_cast<int>(below)));
  // The widest row whose end lies between the two lanes.
  const auto shift = static_cast<std::uint32_t>(31 - __clz(static_cast<int>(previous ^ breaks)));
  const std::uint32_t in_row = (1U << shift) - 1;
  const auto columns =
      static_cast<std::int32_t>(breaks & in_row) - static_cast<std::int32_t>(lanes.leader & in_row);
  const auto rows = static_cast<std::int32_t>((breaks >> shift) - (lanes.leader >> shift));
  const auto delta =
      static_cast<std::int64_t>(__shfl_sync(lanes.mask, address, static_cast<int>(breaks)) - first);
  std::int32_t stride1;
  const bool fits =
      stride_of(delta - static_cast<std::int64_t>(columns) * stride0, rows, stride1) &&
      is_int16(stride0);
  const std::uint64_t base =
      first -
      static_cast<std::uint64_t>(static_cast<std::int64_t>(stride0) * (lanes.leader & in_row)) -
      static_cast<std::uint64_t>(static_cast<std::int64_t>(stride1) * (lanes.leader >> shift));
  const std::uint64_t predicted =
      base +
      static_cast<std::uint64_t>(static_cast<std::int64_t>(stride0) * (lanes.lane & in_row)) +
      static_cast<std::uint64_t>(static_cast<std::int64_t>(stride1) * (lanes.lane >> shift));
  pattern.found =
      __all_sync(lanes.mask, predicted == address) != 0 && fits && same_space(base, first);
  pattern.may_overlap = true;
  pattern.width_log2 = shift;
  pattern.stride0 = stride0;
  pattern.stride1 = stride1;
  pattern.base = base;
  return pattern;
}

// Executed by all lanes of `lanes` together; all get the same answer. Accesses are naturally
// aligned and of one size, so two lanes overlap only where their addresses are equal.
__device__ __forceinline__ Pattern find_pattern(std::uint64_t address, const Lanes& lanes) {
  Pattern pattern;
  const std::uint64_t first = __shfl_sync(lanes.mask, address, static_cast<int>(lanes.leader));
  const std::uint32_t rest = lanes.mask & (lanes.mask - 1);
  if (rest == 0) {
    pattern.found = true;
    pattern.base = first;
    return pattern;
  }
  const auto next = static_cast<std::uint32_t>(__ffs(static_cast<int>(rest))) - 1;
  const auto delta =
      static_cast<std::int64_t>(__shfl_sync(lanes.mask, address, static_cast<int>(next)) - first);
  std::int32_t stride;
  if (!stride_of(delta, static_cast<std::int32_t>(next - lanes.leader), stride)) {
    stride = 0;
  }
  const std::uint64_t base =
      first - static_cast<std::uint64_t>(static_cast<std::int64_t>(stride) * lanes.leader);
  const std::uint64_t predicted =
      base + static_cast<std::uint64_t>(static_cast<std::int64_t>(stride) * lanes.lane);
  const std::uint32_t off_line = __ballot_sync(lanes.mask, predicted != address);
  if (off_line != 0) {
    return find_rows(address, lanes, first, stride,
                     static_cast<std::uint32_t>(__ffs(static_cast<int>(off_line))) - 1);
  }
  pattern.found = same_space(base, first);
  pattern.may_overlap = stride == 0;
  pattern.base = base;
  if (is_int16(stride)) {
    pattern.stride0 = stride;
  } else {
    pattern.width_log2 = 0;
    pattern.stride1 = stride;
  }
  return pattern;
}

}  // namespace barracuda::wire

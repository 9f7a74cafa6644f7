// Tensor maps that a kernel changes (sm_90a), beside what tensor.h has. Macros, so that a finding
// names the line of the program.
#pragma once

#include "tensor.h"

// Where copies find a map that the device has changed.
__device__ alignas(128) CUtensorMap changed_map;

// By the lanes of a warp, a word each.
#define COPY_MAP_BY_WARP(to, from)               \
  reinterpret_cast<unsigned*>(to)[threadIdx.x] = \
      reinterpret_cast<const unsigned*>(from)[threadIdx.x]
#define MAP_REPLACE_ADDRESS(map, address)                                                \
  asm volatile("tensormap.replace.tile.global_address.global.b1024.b64 [%0], %1;" ::"l"( \
                   __cvta_generic_to_global(map)),                                       \
               "l"(address)                                                              \
               : "memory")
#define MAP_REPLACE_ADDRESS_SHARED(map, address)                                              \
  asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;" ::"r"( \
                   SHARED_ADDRESS(map)),                                                      \
               "l"(address)                                                                   \
               : "memory")
#define MAP_COPY_FENCEPROXY(to, from)                                                           \
  asm volatile(                                                                                 \
      "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned " \
      "[%0], [%1], 128;" ::"l"(__cvta_generic_to_global(to)),                                   \
      "r"(SHARED_ADDRESS(from))                                                                 \
      : "memory")
#define MAP_FENCE_RELEASE() asm volatile("fence.proxy.tensormap::generic.release.gpu;" ::: "memory")
#define MAP_FENCE_ACQUIRE(map) \
  asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map) : "memory")

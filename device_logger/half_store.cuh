// The one store that writes a 16-byte half. The start-up test makes the same one.
#pragma once

#include <cstdint>

namespace barracuda::wire {

__device__ __forceinline__ void store_half(std::uint64_t address, std::uint32_t first,
                                           std::uint32_t second, std::uint32_t third,
                                           std::uint32_t fourth) {
  asm volatile("st.volatile.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(address), "r"(first),
               "r"(second), "r"(third), "r"(fourth)
               : "memory");
}

}  // namespace barracuda::wire

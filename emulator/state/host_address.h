// Device addresses of global memory are host addresses: the one place where a number becomes a
// pointer. Only for addresses that have been checked against the allocations.
#pragma once

#include <cstdint>

namespace barracuda::emulator {

template <class T>
[[gnu::always_inline]] inline T* host_address(std::uint64_t address) {
  return reinterpret_cast<T*>(address);  // NOLINT(performance-no-int-to-ptr)
}

}  // namespace barracuda::emulator

// The windows of the generic address space that are not global memory: shared, local, code. Their
// address range is reserved once in the process and never readable, so no host object can have such
// an address.
#pragma once

#include <cstdint>

namespace barracuda::emulator {

inline constexpr std::uint64_t kWindowBytes = std::uint64_t{16} << 20;

struct AddressWindows {
  std::uint64_t base = 0;  // shared, then local, then code, kWindowBytes each

  [[nodiscard]] std::uint64_t shared() const { return base; }

  [[nodiscard]] std::uint64_t local() const { return base + kWindowBytes; }

  [[nodiscard]] std::uint64_t code() const { return base + 2 * kWindowBytes; }

  [[nodiscard]] bool is_shared(std::uint64_t address) const {
    return address - shared() < kWindowBytes;
  }

  [[nodiscard]] bool is_local(std::uint64_t address) const {
    return address - local() < kWindowBytes;
  }
};

const AddressWindows& address_windows();

}  // namespace barracuda::emulator

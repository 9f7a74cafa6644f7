// The shape of a grid, a block or a cluster, and places in them.
#pragma once

#include <cstdint>

namespace barracuda::emulator {

struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;

  [[nodiscard]] std::uint64_t volume() const { return std::uint64_t{x} * y * z; }

  friend bool operator==(const Dim3&, const Dim3&) = default;
};

}  // namespace barracuda::emulator

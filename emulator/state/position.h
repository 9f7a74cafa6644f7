// Where something stands in a grid or a block that is numbered x first.
#pragma once

#include <cstdint>

#include "emulator/dim3.h"

namespace barracuda::emulator {

constexpr Dim3 position_in(const Dim3& shape, std::uint64_t number) {
  return Dim3{.x = static_cast<std::uint32_t>(number % shape.x),
              .y = static_cast<std::uint32_t>(number / shape.x % shape.y),
              .z = static_cast<std::uint32_t>(number / shape.x / shape.y)};
}

}  // namespace barracuda::emulator

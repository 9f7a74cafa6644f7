// The shape that matrix instructions name: ".m16n8k16".
#pragma once

#include <cstdint>
#include <optional>

#include "ptx/module.h"

namespace barracuda::ptx {

struct MatrixShape {
  std::uint32_t m = 0, n = 0, k = 0;
};

// Nothing where no modifier is a shape.
std::optional<MatrixShape> matrix_shape(const Instruction& instruction);

}  // namespace barracuda::ptx

// A matrix that lies in shared memory and is named by a descriptor, as numbers: what wgmma and
// tcgen05 multiply.
#pragma once

#include <cstdint>

#include "emulator/execute/matrix_element.h"
#include "emulator/state/context.h"
#include "ptx/warpgroup_product.h"

namespace barracuda::emulator {

struct MatrixTile {
  wire::MatrixDescriptor matrix;
  wire::MatrixMajor major = wire::MatrixMajor::kDepth;
  wire::MatrixRowRange rows;
  MatrixElement element = MatrixElement::kF16;
  std::uint32_t depth = 0;  // of a row, in elements
};

// False: it does not lie in shared memory, which is reported. `in` says by its flags that it is
// there; what the lanes of `mask` have stored of it is made visible.
bool is_there(Context& c, const Instruction& in, std::uint32_t mask, const MatrixTile& tile);

// Row by row.
void read_tile(const Context& c, const MatrixTile& tile, bool negates, double* to);

}  // namespace barracuda::emulator

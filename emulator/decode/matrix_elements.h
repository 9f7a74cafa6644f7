// The types of elements that matrix instructions name.
#pragma once

#include <vector>

#include "emulator/execute/matrix.h"

namespace barracuda::emulator {

// In the order written: d, a, b, c of a product.
std::vector<MatrixElement> elements_in(const ptx::Instruction& instruction);

}  // namespace barracuda::emulator

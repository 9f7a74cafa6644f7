// The types of elements that matrix instructions name, and the registers that hold them.
#pragma once

#include <vector>

#include "emulator/decode/code_emitter.h"
#include "emulator/execute/matrix.h"

namespace barracuda::emulator {

// In the order written: d, a, b, c of a product.
std::vector<MatrixElement> elements_in(const ptx::Instruction& instruction);

// The registers of one matrix. False, and the instruction is refused, if an operand is none.
bool bind_registers(CodeEmitter& code, const ptx::Operand& operand, ptx::ScalarType type,
                    bool writes, std::vector<Slot>& slots);

}  // namespace barracuda::emulator

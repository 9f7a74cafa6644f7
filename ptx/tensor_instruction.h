// What a tcgen05.mma or tcgen05.cp says in its text: of what kind it is, and which of its operands
// are descriptors.
#pragma once

#include <cstdint>
#include <optional>

#include "device_logger/tensor_reads.h"
#include "ptx/module.h"

namespace barracuda::ptx {

struct TensorInstruction {
  wire::TensorReads reads;
  // Operands: -1 where there is none.
  int a = -1;  // the descriptor of A, or of what is copied
  int b = -1;
  int shape = -1;  // the instruction descriptor
  int adds = -1;   // a predicate: whether D is added to
};

// Of one CTA. Nothing for other forms: of two CTAs, .ws, copies that unpack, and what is not known.
std::optional<TensorInstruction> read_tensor_instruction(const Instruction& instruction);

}  // namespace barracuda::ptx

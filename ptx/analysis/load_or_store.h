// Whether an access loads and does nothing else, or stores: a plain instruction's and a matrix's
// (ldmatrix, stmatrix, wmma.load, wmma.store). Of an atomic or a reduction neither is true.
#pragma once

#include "ptx/opcode.h"

namespace barracuda::ptx {

inline bool only_loads(const Effect& effect) {
  return effect.opcode_class == OpcodeClass::kLoad ||
         (effect.opcode_class == OpcodeClass::kMatrixAccess &&
          effect.operation == wire::Operation::kRead);
}

inline bool only_stores(const Effect& effect) {
  return effect.opcode_class == OpcodeClass::kStore ||
         (effect.opcode_class == OpcodeClass::kMatrixAccess &&
          effect.operation == wire::Operation::kWrite);
}

// Computes in registers, those of other lanes of its warp among them, and orders nothing.
inline bool touches_no_memory(const Effect& effect) {
  const OpcodeClass c = effect.opcode_class;
  return !effect.not_covered && (c == OpcodeClass::kArithmetic ||
                                 c == OpcodeClass::kWarpCollective || c == OpcodeClass::kNoEffect);
}

// cp.async, which its thread waits for by groups.
inline bool is_thread_copy(const Effect& effect) {
  return effect.operation == wire::Operation::kCopy &&
         effect.asynchrony == wire::Asynchrony::kThreadGroup;
}

}  // namespace barracuda::ptx

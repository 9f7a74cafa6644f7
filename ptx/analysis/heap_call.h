// Calls of malloc and free, which CUDA's driver defines: a module only declares them.
#pragma once

#include <cstddef>
#include <optional>

#include "ptx/module.h"

namespace barracuda::ptx {

// The operands next to the call that stand for its values.
struct HeapCall {
  const Operand* pointer = nullptr;
  const Operand* bytes = nullptr;  // null: a free
};

// Of the call that stands there, in this function. Empty if it is of another function, or if the
// result of a malloc is not read.
std::optional<HeapCall> heap_call_at(const Module& module, const Function& function,
                                     std::size_t call);

}  // namespace barracuda::ptx

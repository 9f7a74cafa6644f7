// Analyses know registers by their names, in a whole function. Blocks within a function may declare
// a name again: CUDA's headers do so for __syncthreads_or() and its kin, whose %p1 is not the
// function's.
#pragma once

#include "base/expected.h"
#include "ptx/module.h"

namespace barracuda::ptx {

// A register that shares its name with another one of its function gets a name of its own.
Expected<void> rename_registers(Module& module);

}  // namespace barracuda::ptx

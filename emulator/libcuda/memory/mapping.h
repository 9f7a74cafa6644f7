// Virtual memory management: reserved ranges of addresses, and physical memory mapped into them.
// The addresses are the process's own, so that kernels, copies and other mappings see one memory.
#pragma once

#include "emulator/libcuda/context/context.h"

namespace barracuda::emulator::driver {

// Unmaps what the context's threads have made accessible.
void release_mappings(const Context& context);

}  // namespace barracuda::emulator::driver

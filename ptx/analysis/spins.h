// Whether a function waits in a loop for a value that another thread stores.
#pragma once

#include <cstdint>

#include "ptx/analysis/program.h"

namespace barracuda::ptx {

// It has a loop that a strong or volatile load of memory that other threads see ends. What a called
// function loads, and what reaches the branch through another basic block, is not followed.
bool spins(Program& program, std::uint32_t function);

}  // namespace barracuda::ptx

// Whether a function waits in a loop for a value that another thread stores.
#pragma once

#include <cstdint>

#include "ptx/analysis/program.h"

namespace barracuda::ptx {

struct Spins {
  bool there_are = false;
  bool on_shared = false;  // one that may wait for a word of shared memory
};

// Loops that a strong or volatile load of memory that other threads see ends. What a called
// function loads, and what reaches the branch through another basic block, is not followed.
Spins find_spins(Program& program, std::uint32_t function);

}  // namespace barracuda::ptx

// What becomes of what an atomic finds in memory.
#pragma once

#include <cstddef>

#include "ptx/analysis/program.h"
#include "ptx/analysis/register_uses.h"

namespace barracuda::ptx {

// Whether nothing depends on the result but addresses and what is stored to global memory, as of an
// index into a list that is being filled: it decides nothing, so no thread waits for it or takes it
// for a sign of what others have done. `uses`: of the atomic's function.
[[nodiscard]] bool decides_nothing(const Program& program, const RegisterUses& uses,
                                   std::size_t atomic);

}  // namespace barracuda::ptx

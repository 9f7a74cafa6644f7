// What a thread does after a compare-and-swap that has failed, as far as that alone decides it.
#pragma once

#include <cstddef>
#include <span>

#include "ptx/analysis/constants.h"
#include "ptx/analysis/program.h"
#include "ptx/control_flow.h"

namespace barracuda::ptx {

// Whether it makes the same one again, and nothing on the way that others, or the detector, could
// see: what it found has no effect then. `swap`: one of `sites`, which are those of its function,
// by statement; its result is in a register.
[[nodiscard]] bool is_only_made_again(const Program& program, const ControlFlow& flow,
                                      const Constants& constants,
                                      std::span<const PlannedSite> sites, const PlannedSite& swap);

}  // namespace barracuda::ptx

// Random feasible traces for the oracle of model=paper: warps in lockstep on small grids, with
// branches, barriers, atomics, acquires and releases. A shape stands for one trace; rapidcheck
// makes shapes, and smaller ones of those that fail.
#pragma once

#include "tests/oracle/host_detector/random_trace.h"

namespace barracuda::oracle::paper {

// `clusters` of the shape is not used.
Trace make_trace(const TraceShape& shape);

}  // namespace barracuda::oracle::paper

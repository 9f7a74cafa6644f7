// Barrier divergence where it is certain: threads of a block that do not reach a barrier together.
#pragma once

#include "host_detector/sync/engine_state.h"

namespace barracuda::detector {

// Reports if every live thread of `cta`, which is ended by decree, waits at a barrier.
void report_divergence(EngineState& engine, const CtaState& cta);

// Reports if lanes of the warp that has reached this aligned barrier wait in it elsewhere: a warp
// executes such a barrier as one (PTX ISA 9.7.13.1, barrier.aligned). To be called before they
// arrive.
void report_split_warp(EngineState& engine, const Actor& actor, const WarpOperation& operation);

}  // namespace barracuda::detector

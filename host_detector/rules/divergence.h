// Barrier divergence where it is certain: a CTA none of whose threads can go on.
#pragma once

#include "host_detector/sync/engine_state.h"

namespace barracuda::detector {

// Reports if every live thread of `cta`, which is ended by decree, waits at a barrier.
void report_divergence(EngineState& engine, const CtaState& cta);

}  // namespace barracuda::detector

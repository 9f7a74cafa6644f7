// Barrier divergence where it is certain: threads of a block that do not reach a barrier together.
#pragma once

#include "host_detector/state/engine_state.h"

namespace barracuda::detector {

// Every thread that is left waits at a CTA barrier, and none of these is open: no thread is left to
// open one, so the block can never end.
[[nodiscard]] bool is_deadlocked(const CtaState& cta);

// Reports if `cta`, which is force-ended, is deadlocked.
void report_divergence(EngineState& engine, const CtaState& cta);

// A barrier is about to open. Warns if lanes of a warp left the kernel without coming to it while
// others of the warp did, where it is aligned, but for a guard at the edges of the data, which
// leaves out the threads around a box: `if (i >= n) return;` is what everybody writes, and works.
void report_lanes_gone(EngineState& engine, const CtaState& cta, std::uint32_t number,
                       const Barrier& barrier);

// Reports if lanes of the warp that has reached this aligned barrier wait in it elsewhere: a warp
// executes such a barrier as one (PTX ISA 9.7.13.1, barrier.aligned). To be called before they
// arrive.
void report_split_warp(EngineState& engine, const Actor& actor, const WarpOperation& operation);

}  // namespace barracuda::detector

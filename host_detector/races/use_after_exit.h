// A block's shared memory lasts as long as the block. Another one of its cluster that reaches for
// it must be ordered before the block's end, of which nothing tells it (RACE_RULES section 1).
#pragma once

#include <cstdint>

#include "host_detector/state/engine_state.h"

namespace barracuda::detector {

// Lanes leave a block of a cluster: keeps what they know, as long as the block has any.
void keep_end(const Actor& actor, const WarpOperation& operation);

// The last thread of `actor`'s block has left: reports what others did to its shared memory, if no
// thread of the block knows of it.
void report_uses_before_exit(EngineState& engine, const Actor& actor);

// Reports what `lane` does now to `bytes` of the shared memory of a block that has ended, by its
// instruction `site`. False if the address is not such memory.
bool report_use_after_exit(EngineState& engine, const Actor& actor, wire::SiteId site,
                           std::uint32_t lane, std::uint64_t tagged, std::uint32_t bytes);

}  // namespace barracuda::detector

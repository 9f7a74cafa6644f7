// What is left of older cells once a newer access stands for them (RACE_RULES section 3). Pure
// functions: they return the cell that is to be kept, which may have no bytes.
#pragma once

#include "host_detector/races/access.h"

namespace barracuda::detector {

// All of `older` happens before all of `newer`.
[[nodiscard]] Cell left_after(const PlacedPiece& access, const Cell& older, const Cell& newer);

// Some lanes of `older` may: those go.
[[nodiscard]] Cell left_lane_by_lane(const PlacedPiece& access, const Cell& older,
                                     const Cell& newer);

// Both are of one warp and one shared set: what lanes did again need not be kept.
[[nodiscard]] Cell left_in_set(const EngineState& engine, const Cell& older, const Cell& newer);

}  // namespace barracuda::detector

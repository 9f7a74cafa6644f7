// Which of the accesses that shadow memory keeps happen before the current one (RACE_RULES section
// 1). Asynchronous ones are ordered by their completions, and those of the async proxy need a fence
// besides.
#pragma once

#include "host_detector/races/access.h"

namespace barracuda::detector {

// All lanes of `older` come before all lanes of `newer`, a part of the access. False where that
// takes looking at each lane.
[[nodiscard]] bool is_all_before(const PlacedPiece& access, const Cell& older, const Cell& newer);

// What `older_lane` did comes before what `lane` of the access does now.
[[nodiscard]] bool is_before(const PlacedPiece& access, const Cell& older, std::uint32_t older_lane,
                             std::uint32_t lane);

// `older` wrote the byte, and a thread that comes before `lane` observed that value: for this
// location that is order enough.
[[nodiscard]] bool was_observed(const PlacedPiece& access, const Cell& older, std::uint32_t byte,
                                std::uint32_t lane);

// Both are what copies of one thread read of a tensor map: maps are read in the order in which
// copies are issued, so the newer one stands for both.
[[nodiscard]] bool is_of_one_map_reader(const EngineState& engine, const Cell& older,
                                        const Cell& newer);

// The access is of the async proxy or of that of tensor maps, and sees what `older` wrote past a
// proxy fence only.
[[nodiscard]] bool is_between_proxies(const PlacedPiece& access, const Cell& older);

// Then: none came between them that `lane` knows of.
[[nodiscard]] bool lacks_proxy_fence(const PlacedPiece& access, const Cell& older,
                                     std::uint32_t older_lane, std::uint32_t lane);

}  // namespace barracuda::detector

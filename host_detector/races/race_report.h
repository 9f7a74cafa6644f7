// Makes race events of conflicts, with the order that is missing, and gives them to the log.
#pragma once

#include "host_detector/races/access.h"
#include "host_detector/races/conflict.h"

namespace barracuda::detector {

// `newer` is a part of the access.
void report(const PlacedPiece& access, const Cell& older, const Cell& newer,
            const Conflict& conflict);

// Conflicts with copies by the host. They are not in the shadow, but in a list that launches look
// through that may run beside one.
void report_races_with_copies(const PlacedPiece& access);

// What a report says of `lane` of the cell, at an address that it touches.
[[nodiscard]] RaceAccess describe_cell(const EngineState& engine, const Cell& cell,
                                       std::uint32_t lane, std::uint64_t address,
                                       wire::AddressSpace space = wire::AddressSpace::kGlobal);

}  // namespace barracuda::detector

// One part of an access, at its place in memory: what it is compared as with what is there.
#pragma once

#include <cstdint>

#include "host_detector/races/footprint.h"
#include "host_detector/races/verdict.h"
#include "host_detector/state/engine_state.h"

namespace barracuda::detector {

[[nodiscard]] inline std::uint64_t block_start_of(const MemoryPlace& place) {
  return place.address & ~std::uint64_t{kBlockBytes - 1};
}

// The thread that makes an access, and the instruction.
struct Accessor {
  EngineState& engine;
  const Actor& actor;
  const wire::SiteInfo& site;
};

// Holds references: for as long as the piece is compared, and no longer.
struct PlacedPiece {
  const Accessor& by;
  const Piece& piece;
  const MemoryPlace& place;  // of its first byte

  [[nodiscard]] EngineState& engine() const { return by.engine; }

  [[nodiscard]] const Actor& actor() const { return by.actor; }

  [[nodiscard]] const wire::SiteInfo& site() const { return by.site; }

  [[nodiscard]] std::uint64_t block_start() const { return block_start_of(place); }
};

// How far the threads of another CTA are from those of `actor`.
[[nodiscard]] Distance distance_between(CtaKey other, const Actor& actor);

// What the verdict needs of a cell.
[[nodiscard]] Side side_of(const EngineState& engine, const Cell& cell);

}  // namespace barracuda::detector

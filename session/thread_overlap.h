// Whether two threads of a launch may access a byte in common.
#pragma once

#include <cstdint>
#include <span>

#include "session/affine_address.h"
#include "session/device_driver.h"

namespace barracuda::session {

struct Footprint {
  AffineAddress address;
  std::uint32_t bytes = 0;

  friend bool operator==(const Footprint&, const Footprint&) = default;
};

// Of every thread that makes one of the accesses: `index`, which has no steps, is at most `most`.
struct IndexBound {
  AffineAddress index;
  std::int64_t most = 0;
};

// No byte of `range` is accessed by two threads, if they access nothing else there. False where it
// could not be shown. What lies outside of the range may be shared.
bool are_disjoint(std::span<const Footprint> footprints, const PartExtents& extents,
                  const MemoryRange& range, std::span<const IndexBound> bounds = {});

}  // namespace barracuda::session

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

// No byte of `range` is accessed by two threads, if they access nothing else there. False where it
// could not be shown. What lies outside of the range may be shared.
bool are_disjoint(std::span<const Footprint> footprints, const PartExtents& extents,
                  const MemoryRange& range);

}  // namespace barracuda::session

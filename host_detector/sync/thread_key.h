// A thread of a launch, or of a copy.
#pragma once

#include <cstdint>

#include "host_detector/clock/cta_clock.h"

namespace barracuda::detector {

struct ThreadKey {
  CtaKey cta{};
  std::uint32_t cluster = 0;
  std::uint16_t warp = 0;
  std::uint8_t lane = 0;

  [[nodiscard]] ClockPlace place() const {
    return {.cta = cta, .slot = warp_slot(warp), .lane = lane};
  }

  friend bool operator==(const ThreadKey&, const ThreadKey&) = default;
};

}  // namespace barracuda::detector

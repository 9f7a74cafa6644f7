// A thread of a launch, or of a copy.
#pragma once

#include <cstdint>

#include "host_detector/clock/completions.h"

namespace barracuda::detector {

struct ThreadKey {
  CtaKey cta{};
  std::uint32_t cluster = 0;
  std::uint16_t warp = 0;  // pseudo warps are above the real ones (completions.h)
  std::uint8_t lane = 0;
  friend bool operator==(const ThreadKey&, const ThreadKey&) = default;
};

static_assert(mbarrier_warp(kMaxMbarriers - 1) <= 0xFFFF, "a ThreadKey has room for all of them");

}  // namespace barracuda::detector

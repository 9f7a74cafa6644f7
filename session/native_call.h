// What the emulated device's hooks make of their arguments and results.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "emulator/native_function.h"
#include "session/native_lanes.h"

namespace barracuda::session {

inline std::uint32_t site_of(const emulator::NativeCall& call, std::uint32_t lane) {
  return call.arguments[0].load<std::uint32_t>(static_cast<int>(lane));
}

// The lanes of `mask` that call from the first one's site.
inline NativeLanes lanes_of_first_site(const emulator::NativeCall& call, std::uint32_t mask) {
  const std::uint32_t site = site_of(call, static_cast<std::uint32_t>(std::countr_zero(mask)));
  std::uint32_t same = 0;
  for (std::uint32_t lane = 0; lane < wire::kWarpLanes; ++lane) {
    same |= static_cast<std::uint32_t>(site_of(call, lane) == site) << lane;
  }
  return NativeLanes(same & mask);
}

// Calls visit(lanes) for the lanes of each site; again later if it has no room for one.
template <typename Visit>
emulator::NativeResult for_each_site(const emulator::NativeCall& call, std::uint32_t mask,
                                     const Visit& visit) {
  while (mask != 0) {
    const NativeLanes same = lanes_of_first_site(call, mask);
    if (!visit(same)) {
      return emulator::NativeResult::kTryAgain;
    }
    mask &= ~same.mask;
  }
  return emulator::NativeResult::kDone;
}

inline void set_results(const emulator::NativeCall& call, std::uint32_t lanes,
                        std::uint64_t result) {
  NativeLanes(lanes).for_each([&](std::uint32_t lane, std::uint32_t) {
    call.result.store(static_cast<int>(lane), 0, result);
  });
}

inline LaneWords words_of(const emulator::NativeCall& call, std::size_t argument) {
  LaneWords words;
  for (std::uint32_t lane = 0; lane < wire::kWarpLanes; ++lane) {
    words[lane] = call.arguments[argument].load<std::uint32_t>(static_cast<int>(lane));
  }
  return words;
}

}  // namespace barracuda::session

// Sets of lanes of a warp, as masks.
#pragma once

#include <bit>
#include <cstdint>

#include "base/set_bits.h"

namespace barracuda::detector {

inline constexpr std::uint32_t kAllLanes = ~std::uint32_t{0};

inline std::uint32_t first_lane(std::uint32_t lanes) {
  return static_cast<std::uint32_t>(std::countr_zero(lanes));
}

// One bit is set. Unlike std::has_single_bit it needs no instruction that old processors lack.
constexpr bool is_single(std::uint64_t bits) {
  return bits != 0 && (bits & (bits - 1)) == 0;
}

// Those of `lanes` for which holds(lane).
template <typename Predicate>
std::uint32_t lanes_where(std::uint32_t lanes, Predicate holds) {
  std::uint32_t some = 0;
  for (const std::uint32_t lane : SetBits(lanes)) {
    some |= holds(lane) ? std::uint32_t{1} << lane : 0;
  }
  return some;
}

}  // namespace barracuda::detector

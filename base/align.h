// Rounding to a multiple.
#pragma once

#include <concepts>
#include <type_traits>

namespace barracuda {

template <std::integral Number>
constexpr Number align_up(Number value, std::type_identity_t<Number> alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

template <std::integral Number>
constexpr Number align_down(Number value, std::type_identity_t<Number> alignment) {
  return value / alignment * alignment;
}

}  // namespace barracuda

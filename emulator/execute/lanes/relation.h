// The relations of setp and set, by the names that PTX gives them (PTX ISA 9.7.6): the ones that
// end in u hold for a NaN too.
#pragma once

#include <type_traits>

#include "emulator/execute/lanes/lanes.h"

namespace barracuda::emulator::BARRACUDA_EXECUTE_TARGET {

enum class Relation : u8 {
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
  kEqu,
  kNeu,
  kLtu,
  kLeu,
  kGtu,
  kGeu,
  kNum,
  kNan
};

inline constexpr ptx::Modifier kRelationNames[] = {
    ptx::Modifier::kEq,  ptx::Modifier::kNe,  ptx::Modifier::kLt,  ptx::Modifier::kLe,
    ptx::Modifier::kGt,  ptx::Modifier::kGe,  ptx::Modifier::kEqu, ptx::Modifier::kNeu,
    ptx::Modifier::kLtu, ptx::Modifier::kLeu, ptx::Modifier::kGtu, ptx::Modifier::kGeu,
    ptx::Modifier::kNum, ptx::Modifier::kNan};

template <Relation R, class T>
[[gnu::always_inline]] inline bool holds(T a, T b) {
  using enum Relation;
  if constexpr (R == kEq) {
    return a == b;
  } else if constexpr (R == kNe) {
    // Ordered: false for NaN.
    return std::is_integral_v<T> ? a != b : (a < b || a > b);
  } else if constexpr (R == kLt) {
    return a < b;
  } else if constexpr (R == kLe) {
    return a <= b;
  } else if constexpr (R == kGt) {
    return a > b;
  } else if constexpr (R == kGe) {
    return a >= b;
  } else if constexpr (R == kEqu) {
    return !(a < b || a > b);
  } else if constexpr (R == kNeu) {
    return a != b;
  } else if constexpr (R == kLtu) {
    return !(a >= b);
  } else if constexpr (R == kLeu) {
    return !(a > b);
  } else if constexpr (R == kGtu) {
    return !(a <= b);
  } else if constexpr (R == kGeu) {
    return !(a < b);
  } else if constexpr (R == kNum) {
    return a == a && b == b;
  } else {
    return a != a || b != b;
  }
}

// Where the relation is known only when the instruction runs.
inline bool holds(Relation relation, float a, float b) {
  using enum Relation;
  static constexpr bool (*kHolds[])(float, float) = {
      &holds<kEq, float>,  &holds<kNe, float>,  &holds<kLt, float>,  &holds<kLe, float>,
      &holds<kGt, float>,  &holds<kGe, float>,  &holds<kEqu, float>, &holds<kNeu, float>,
      &holds<kLtu, float>, &holds<kLeu, float>, &holds<kGtu, float>, &holds<kGeu, float>,
      &holds<kNum, float>, &holds<kNan, float>};
  return kHolds[static_cast<int>(relation)](a, b);
}

}  // namespace barracuda::emulator::BARRACUDA_EXECUTE_TARGET

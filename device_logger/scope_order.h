// Which scope includes which. The order is said here, and not by the numbers of the enumerators.
#pragma once

#include "device_logger/site_info.h"

namespace barracuda::wire {

// A scope has the threads of those that are less broad.
constexpr int breadth_of(Scope scope) {
  switch (scope) {
    case Scope::kCta:
      return 1;
    case Scope::kCluster:
      return 2;
    case Scope::kGpu:
      return 3;
    case Scope::kSys:
      return 4;
  }
  return 0;
}

constexpr bool includes(Scope scope, Scope other) {
  return breadth_of(scope) >= breadth_of(other);
}

constexpr Scope narrower(Scope a, Scope b) {
  return includes(a, b) ? b : a;
}

constexpr Scope wider(Scope a, Scope b) {
  return includes(a, b) ? a : b;
}

static_assert(includes(Scope::kSys, Scope::kGpu) && includes(Scope::kGpu, Scope::kCluster) &&
              includes(Scope::kCluster, Scope::kCta) && !includes(Scope::kCta, Scope::kCluster));
static_assert(narrower(Scope::kSys, Scope::kCta) == Scope::kCta &&
              wider(Scope::kCta, Scope::kCluster) == Scope::kCluster);

// Of fences of the paper's, a global one reaches further than one for a block.
constexpr FenceScope wider(FenceScope a, FenceScope b) {
  return a == FenceScope::kGlobal || b == FenceScope::kNone ? a : b;
}

}  // namespace barracuda::wire

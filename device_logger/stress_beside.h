// The kernel that stresses memory beside a launch of the program that can get no blocks of the
// tool's own: in a stream of its own, on some of the multiprocessors, for a short time.
#pragma once

#include <cstdint>

#include "device_logger/stress_shape.h"

namespace barracuda::wire {

// Its one parameter.
struct StressBeside {
  stress::StressShape stress;
  std::uint32_t number = 0;       // it ends once the word at `stop` is not below this
  std::uint64_t stop = 0;         // u32 in pinned host memory
  std::uint64_t scratch = 0;      // what is disturbed
  std::uint32_t seed = 0;         // of the disturbance and of the multiprocessors
  std::uint32_t nanoseconds = 0;  // for which it goes on, at most
};

inline constexpr const char kStressBesideKernel[] = "__barracuda_stress_beside";

// A whole module. Static storage.
const char* stress_beside_ptx();

}  // namespace barracuda::wire

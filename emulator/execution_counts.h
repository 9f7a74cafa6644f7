// What kernels executed, by warp: what something costs on a device that has no time of its own.
#pragma once

#include <cstdint>

namespace barracuda::emulator {

struct ExecutionCounts {
  std::uint64_t warp_instructions = 0;
  std::uint64_t fences = 0;  // of these

  friend bool operator==(const ExecutionCounts&, const ExecutionCounts&) = default;
};

}  // namespace barracuda::emulator

// The kernel of commit_probe.h.
#include <cstdint>

#include "device_logger/half_store.cuh"
#include "device_logger/record.h"

// The logger stores both ways: the lanes of a warp side by side, and one lane alone.
extern "C" __global__ void __barracuda_commit_probe(std::uint64_t cells, std::uint32_t rounds) {
  using namespace barracuda::wire;
  const std::uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
  const std::uint32_t lane = thread % kWarpLanes;
  const bool alone = thread / kWarpLanes % 2 != 0;
  const std::uint64_t cell = cells + std::uint64_t{thread} * kHalfBytes;
  for (std::uint32_t round = 1; round <= rounds; ++round) {
    if (!alone || round % kWarpLanes == lane) {
      store_half(cell, round, round, round, round);
    }
  }
}

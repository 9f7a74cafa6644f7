// What rewritten code reads of its place in the grid, and the blocks that disturb memory instead of
// running the program. For store_buffer.cu, which has the hooks of all rewritten code.
#pragma once

#include <cstdint>

#include "device_logger/disturbance.cuh"
#include "device_logger/logger_queue.cuh"
#include "device_logger/stressed_launch.h"

namespace barracuda::wire {

struct Coordinates {
  std::uint32_t x, y, z;

  __device__ __forceinline__ std::uint32_t at(std::uint32_t coordinate) const {
    return coordinate == 0 ? x : (coordinate == 1 ? y : z);
  }
};

__device__ __forceinline__ std::uint32_t linear(const Coordinates& place, const Coordinates& all) {
  return place.x + all.x * (place.y + all.y * place.z);
}

__device__ __forceinline__ Coordinates place_of(std::uint32_t number, const Coordinates& all) {
  const std::uint32_t row = number / all.x;
  return {number - row * all.x, row % all.y, row / all.y};
}

__device__ __forceinline__ Coordinates of(const dim3& extent) {
  return {extent.x, extent.y, extent.z};
}

// The device's own numbers; below sm_90 each block is a cluster.
#if __CUDA_ARCH__ >= 900
__device__ __forceinline__ Coordinates device_cluster() {
  return of(__clusterIdx());
}

__device__ __forceinline__ Coordinates device_clusters() {
  return of(__clusterGridDimInClusters());
}

__device__ __forceinline__ Coordinates block_in_cluster() {
  return of(__clusterRelativeBlockIdx());
}
#else
__device__ __forceinline__ Coordinates device_cluster() {
  return {blockIdx.x, blockIdx.y, blockIdx.z};
}

__device__ __forceinline__ Coordinates device_clusters() {
  return of(gridDim);
}

__device__ __forceinline__ Coordinates block_in_cluster() {
  return {0, 0, 0};
}
#endif

// Null: the program's numbers are the device's.
const __device__ __forceinline__ StressedLaunch* stressed_launch() {
  const std::uint64_t descriptor = __barracuda_block.descriptor;
  return descriptor == 0 ? nullptr
                         : reinterpret_cast<const StressedLaunch*>(
                               reinterpret_cast<const LaunchDescriptor*>(descriptor)->stressed);
}

__device__ __forceinline__ Coordinates program_clusters(const StressedLaunch& launch) {
  return {launch.grid[0] / launch.cluster[0], launch.grid[1] / launch.cluster[1],
          launch.grid[2] / launch.cluster[2]};
}

__device__ __forceinline__ Coordinates program_cluster_place(const StressedLaunch& launch) {
  const Coordinates clusters = device_clusters();
  const std::uint32_t cluster = linear(device_cluster(), clusters);
  return place_of(program_cluster(launch, cluster, clusters.x * clusters.y * clusters.z),
                  program_clusters(launch));
}

__device__ __forceinline__ std::uint64_t nanoseconds_now() {
  std::uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

// Of a block that is none of the program's.
__device__ __forceinline__ void disturb(const StressedLaunch& launch) {
  const Coordinates size = of(blockDim);
  const std::uint32_t thread = linear({threadIdx.x, threadIdx.y, threadIdx.z}, size);
  const std::uint32_t threads = size.x * size.y * size.z;
  if (launch.stress.kind == stress::StressKind::kNone || thread >= launch.stress.threads) {
    return;
  }
  stress::Disturbance disturbance(launch.stress, launch.scratch, launch.seed,
                                  linear_cta() * threads + thread,
                                  gridDim.x * gridDim.y * gridDim.z * threads);
  const std::uint32_t looks = launch.looks, patience = launch.nanoseconds;
  const std::uint64_t begin = patience == 0 ? 0 : nanoseconds_now();
  for (std::uint32_t look = 0; look < looks; ++look) {
    disturbance.run();
    if (patience != 0 && nanoseconds_now() - begin >= patience) {
      return;
    }
  }
}

}  // namespace barracuda::wire

// What the program reads instead of a coordinate, 0, 1 or 2, of its place.
BARRACUDA_HOOK std::uint32_t __barracuda_ctaid(std::uint32_t coordinate) {
  using namespace barracuda::wire;
  const StressedLaunch* const launch = stressed_launch();
  return launch == nullptr
             ? Coordinates{blockIdx.x, blockIdx.y, blockIdx.z}.at(coordinate)
             : program_cluster_place(*launch).at(coordinate) * launch->cluster[coordinate] +
                   block_in_cluster().at(coordinate);
}

BARRACUDA_HOOK std::uint32_t __barracuda_clusterid(std::uint32_t coordinate) {
  using namespace barracuda::wire;
  const StressedLaunch* const launch = stressed_launch();
  return (launch == nullptr ? device_cluster() : program_cluster_place(*launch)).at(coordinate);
}

BARRACUDA_HOOK std::uint32_t __barracuda_nctaid(std::uint32_t coordinate) {
  using namespace barracuda::wire;
  const StressedLaunch* const launch = stressed_launch();
  return launch == nullptr ? of(gridDim).at(coordinate) : launch->grid[coordinate];
}

BARRACUDA_HOOK std::uint32_t __barracuda_nclusterid(std::uint32_t coordinate) {
  using namespace barracuda::wire;
  const StressedLaunch* const launch = stressed_launch();
  return (launch == nullptr ? device_clusters() : program_clusters(*launch)).at(coordinate);
}

BARRACUDA_HOOK std::uint32_t __barracuda_tid(std::uint32_t coordinate) {
  using namespace barracuda::wire;
  const StressedLaunch* const launch = stressed_launch();
  const Coordinates own{threadIdx.x, threadIdx.y, threadIdx.z}, size = of(blockDim);
  if (launch == nullptr) {
    return own.at(coordinate);
  }
  return place_of(program_thread(*launch, linear(own, size), size.x * size.y * size.z), size)
      .at(coordinate);
}

// First of all in a kernel: not 0 in a block that is none of the program's, once it has disturbed.
BARRACUDA_HOOK std::uint32_t __barracuda_disturb() {
  using namespace barracuda::wire;
  const StressedLaunch* const launch = stressed_launch();
  if (launch == nullptr) {
    return 0;
  }
  const Coordinates clusters = device_clusters();
  if (!is_extra(*launch, linear(device_cluster(), clusters),
                clusters.x * clusters.y * clusters.z)) {
    return 0;
  }
  disturb(*launch);
  return 1;
}

#include "host_detector/launches/launch_shape.h"

#include <algorithm>

namespace barracuda::detector {
namespace {

struct Position {
  std::uint32_t x = 0, y = 0, z = 0;
};

Position position_of(std::uint32_t index, const Dim3& extent) {
  return {.x = index % extent.x,
          .y = index / extent.x % extent.y,
          .z = static_cast<std::uint32_t>(index / (std::uint64_t{extent.x} * extent.y))};
}

}  // namespace

LaunchShape::LaunchShape(const LaunchInfo& launch_info)
    : info(launch_info),
      threads_per_cta(static_cast<std::uint32_t>(launch_info.block.volume())),
      ctas_per_cluster(
          static_cast<std::uint32_t>(std::max<std::uint64_t>(1, launch_info.cluster.volume()))) {
  warps_per_cta = (threads_per_cta + wire::kWarpLanes - 1) / wire::kWarpLanes;
}

std::uint32_t LaunchShape::cluster_of(std::uint32_t cta) const {
  if (!has_clusters()) {
    return cta;
  }
  const Dim3& shape = info.cluster;
  const Position at = position_of(cta, info.grid);
  const std::uint32_t wide = (info.grid.x + shape.x - 1) / shape.x;
  const std::uint32_t high = (info.grid.y + shape.y - 1) / shape.y;
  return at.x / shape.x + (at.y / shape.y + at.z / shape.z * high) * wide;
}

std::uint32_t LaunchShape::rank_of(std::uint32_t cta) const {
  const Dim3& shape = info.cluster;
  const Position at = position_of(cta, info.grid);
  return has_clusters() ? at.x % shape.x + shape.x * (at.y % shape.y + shape.y * (at.z % shape.z))
                        : 0;
}

std::optional<std::uint32_t> LaunchShape::cta_of_rank(std::uint32_t cta, std::uint32_t rank) const {
  if (rank >= ctas_per_cluster) {
    return std::nullopt;
  }
  const Dim3& shape = info.cluster;
  const Position at = position_of(cta, info.grid);
  const Position in = position_of(rank, shape);
  const std::uint64_t x = at.x / shape.x * shape.x + in.x;
  const std::uint64_t y = at.y / shape.y * shape.y + in.y;
  const std::uint64_t z = at.z / shape.z * shape.z + in.z;
  if (x >= info.grid.x || y >= info.grid.y || z >= info.grid.z) {
    return std::nullopt;
  }
  return static_cast<std::uint32_t>(x + (y + z * info.grid.y) * info.grid.x);
}

}  // namespace barracuda::detector

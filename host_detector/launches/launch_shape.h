// The threads of a launch: its warps, CTAs and clusters, by number.
#pragma once

#include <cstdint>
#include <optional>

#include "host_detector/launch.h"

namespace barracuda::detector {

struct LaunchShape {
  explicit LaunchShape(const LaunchInfo& launch_info);

  LaunchInfo info;
  std::uint32_t warps_per_cta;
  std::uint32_t threads_per_cta;
  std::uint32_t ctas_per_cluster;

  [[nodiscard]] std::uint32_t cluster_of(std::uint32_t cta) const;
  // The CTA with `rank` in the cluster of `cta`; nothing if there is none.
  [[nodiscard]] std::optional<std::uint32_t> cta_of_rank(std::uint32_t cta,
                                                         std::uint32_t rank) const;
  [[nodiscard]] std::uint32_t rank_of(std::uint32_t cta) const;

  [[nodiscard]] bool has_clusters() const { return ctas_per_cluster > 1; }
};

}  // namespace barracuda::detector

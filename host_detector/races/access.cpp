#include "host_detector/races/access.h"

namespace barracuda::detector {

Distance distance_between(CtaKey other, const Actor& actor) {
  if (other == actor.cta.key) {
    return wire::Scope::kCta;
  }
  const LaunchState& launch = actor.cta.launch;
  const bool is_of_cluster = launch.has_clusters() && other.work() == launch.info.id &&
                             launch.cluster_of(other.cta()) == actor.cta.cluster;
  return is_of_cluster ? wire::Scope::kCluster : wire::Scope::kGpu;
}

Side side_of(const EngineState& engine, const Cell& cell) {
  const wire::SiteInfo& site = engine.site(cell.site);
  const bool is_constant = site.stores_constant && site.operation == wire::Operation::kWrite;
  return {.site = &site,
          .writes = cell.writes(),
          .has_value = is_constant || (cell.flags & Cell::kUniform) != 0,
          .value = is_constant ? site.constant : cell.value,
          .agrees = cell.agrees(),
          .is_of_mbarrier = cell.is_of_mbarrier()};
}

}  // namespace barracuda::detector

#include "host_detector/launches/prerequisites.h"

#include <array>

namespace barracuda::detector {
namespace {

// What `known` adds to what everything that comes after `later` knows anyway.
Clock news(const Clock& known, WorkId later, const LaunchOrder& order) {
  return known.without(
      [&](CtaKey cta) { return !cta.is_fenced() && order.is_before(cta.work(), later); });
}

}  // namespace

LaunchKnowledge Prerequisites::begin(const LaunchInfo& launch, LaunchOrder& order,
                                     const FinalClocks& finals) const {
  const auto let_begin = let_begin_.find(launch.prerequisite);
  if (launch.prerequisite != LaunchId{}) {
    order.add(launch.prerequisite_over, launch.ordered_after);
  }
  if (launch.prerequisite == LaunchId{} || let_begin == let_begin_.end()) {
    order.add(launch.id, launch.ordered_after);
    return {.at_first = news(finals.of(launch.ordered_after), launch.id, order),
            .from_grid_wait = {}};
  }
  order.add(launch.id, launch.ordered_after, launch.prerequisite);
  std::vector<WorkId> over = launch.ordered_after;
  std::erase(over, WorkId(launch.prerequisite));
  Clock at_first = finals.of(over);
  at_first.join(let_begin->second);
  Clock from_grid_wait =
      news(finals.of(std::array{WorkId(launch.prerequisite)}), launch.prerequisite_over, order);
  // By knows_end_of().
  constexpr std::array kAnything{
      WarpTime{.slot = warp_slot(0), .lanes = ~std::uint32_t{0}, .time = 1}};
  from_grid_wait.raise(CtaKey(launch.prerequisite_over, 0), kAnything);
  return {.at_first = news(at_first, launch.id, order),
          .from_grid_wait = std::move(from_grid_wait)};
}

}  // namespace barracuda::detector

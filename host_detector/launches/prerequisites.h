// Programmatic launches (PTX ISA 9.7.13.13, griddepcontrol): a launch may run beside its
// prerequisite once that has let its dependents begin. Its threads know what was over when the
// prerequisite began, and the rest once they have executed griddepcontrol.wait. If the prerequisite
// never lets its dependents begin, the launch comes after it like any other.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>

#include "host_detector/launches/final_clocks.h"
#include "host_detector/launches/launch_order.h"

namespace barracuda::detector {

// A clock that knows anything of a launch that began after `work` knows that `work` is over.
[[nodiscard]] inline bool knows_end_of(const LaunchOrder& order, WorkId work, const Clock& clock) {
  return clock.knows_work([&](WorkId known) { return order.is_before(work, known); });
}

// What the threads of a launch know of launches that are not ordered before it.
struct LaunchKnowledge {
  Clock at_first, from_grid_wait;
};

class Prerequisites {
 public:
  // A launch that let its dependents begin is over; when it began it knew `initial`.
  void add(LaunchId over, const Clock& initial) { let_begin_.insert_or_assign(over, initial); }

  // Puts a launch into `order`. All that it is ordered after is over.
  LaunchKnowledge begin(const LaunchInfo& launch, LaunchOrder& order,
                        const FinalClocks& finals) const;

 private:
  boost::unordered_flat_map<LaunchId, Clock> let_begin_;
};

}  // namespace barracuda::detector

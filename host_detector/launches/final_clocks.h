// What launches and copies that are over knew of others that ran beside them; most knew nothing.
#pragma once

#include <span>
#include <utility>

#include <boost/unordered/unordered_flat_map.hpp>

#include "host_detector/clock/clock.h"

namespace barracuda::detector {

class FinalClocks {
 public:
  void add(WorkId over, Clock clock) {
    if (!clock.is_empty()) {
      clocks_.insert_or_assign(over, std::move(clock));
    }
  }

  // All that these knew.
  [[nodiscard]] Clock of(std::span<const WorkId> launches) const {
    Clock all;
    for (const WorkId launch : launches) {
      const auto known = clocks_.find(launch);
      if (known != clocks_.end()) {
        all.join(known->second);
      }
    }
    return all;
  }

 private:
  boost::unordered_flat_map<WorkId, Clock> clocks_;
};

}  // namespace barracuda::detector

// A race of two accesses of one kernel, for the sentence about the order that it lacks.
#pragma once

#include <string>

#include "report/missing_order.h"
#include "tests/unit/report/samples.h"

namespace barracuda::report::samples {

struct MissingOrderSample {
  detector::RaceEvent race;
  ptx::SiteTable sites = racy_run().sites;
  Access first = access(AccessOperation::kWrite, 12, 0);
  Access second = access(AccessOperation::kRead, 14, 1);

  MissingOrderSample() { race.second.site = wire::SiteId{1}; }

  [[nodiscard]] std::string text(const LoopRounds& rounds = {}) const {
    return missing_order(race, sites, first, second, rounds);
  }

  void add_fence(wire::Scope scope) {
    ptx::Site fence =
        site(static_cast<std::uint32_t>(sites.size()), wire::Operation::kFence,
             {{"_Z3addPi", "/src/add.cu", 20 + static_cast<std::uint32_t>(sites.size()), 5}});
    fence.info.scope = scope;
    sites.push_back(fence);
  }
};

}  // namespace barracuda::report::samples

// Races drive the delays: what the detector has found tells which store to delay and which load to
// make stale, instead of a draw among thousands.
#pragma once

#include <cstdint>
#include <vector>

#include "report/race_report.h"
#include "weak_memory/experiment.h"

namespace barracuda::weak_memory {

// A pair of accesses in kernels whose lines are known, so that they can be made weak.
bool can_direct(const report::Finding& race);

struct DirectedTries {
  std::uint64_t count = 0;       // at most
  std::uint64_t first_seed = 1;  // the next ones follow
  bool stores_only = false;
};

// The runs for one race: its writes delayed until the other access has executed; and, where it has
// a read, that read stale in every other run, for what is missing may be an acquire.
std::vector<Settings> directed_runs(const report::Finding& race, const DirectedTries& tries);

}  // namespace barracuda::weak_memory

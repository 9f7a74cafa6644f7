// What two threads of one launch lack that nothing orders: an atomic, a barrier, or a launch of its
// own for one of the two accesses.
#pragma once

#include <optional>
#include <string>

#include "host_detector/race_event.h"
#include "ptx/site_table.h"
#include "report/awaited_flags.h"
#include "report/loop_rounds.h"
#include "report/race_report.h"
#include "report/race_sites.h"

namespace barracuda::report {

// `flag`: that stands between the two.
std::string unordered_threads(const detector::RaceEvent& race, const RaceSites& sites,
                              const Access& first, const Access& second, const LoopRounds& rounds,
                              const std::optional<AwaitedFlag>& flag);

}  // namespace barracuda::report

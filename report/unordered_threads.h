// What two threads of one launch lack that nothing orders: an atomic, a barrier, or a launch of its
// own for one of the two accesses.
#pragma once

#include <string>

#include "host_detector/race_event.h"
#include "ptx/site_table.h"
#include "report/loop_rounds.h"
#include "report/race_report.h"
#include "report/race_sites.h"

namespace barracuda::report {

// `flag`: null, or the flag that stands between the two (awaited_flags.h).
std::string unordered_threads(const detector::RaceEvent& race, const RaceSites& sites,
                              const Access& first, const Access& second, const LoopRounds& rounds,
                              const ptx::Site* flag);

}  // namespace barracuda::report

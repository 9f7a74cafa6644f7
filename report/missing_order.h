// The ordering that a race lacks, as a clause for people: which threads, and what would order them.
#pragma once

#include <string>

#include "report/loop_rounds.h"
#include "report/race_report.h"
#include "report/run_data.h"

namespace barracuda::report {

std::string missing_order(const detector::RaceEvent& race, const ptx::SiteTable& sites,
                          const Access& first, const Access& second, const LoopRounds& rounds = {});

// "block 3", or "block [1,2,0]" where the grid has more than one dimension in use.
std::string block_name(const Access& access);

}  // namespace barracuda::report

// The ordering that a race lacks, as a clause for people: which threads, and what would order them.
#pragma once

#include <string>

#include "report/loop_rounds.h"
#include "report/race_report.h"
#include "report/run_data.h"

namespace barracuda::report {

// `flag` is the store by which the first thread hands on what it has accessed, if it does so
// (awaited_flags.h).
std::string missing_order(const detector::RaceEvent& race, const ptx::SiteTable& sites,
                          const Access& first, const Access& second, const LoopRounds& rounds = {},
                          const ptx::Site* flag = nullptr);

// "block 3", or "block [1,2,0]" where the grid has more than one dimension in use.
std::string block_name(const Access& access);

}  // namespace barracuda::report

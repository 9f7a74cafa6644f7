// The ordering that a race lacks, as a clause for people: which threads, and what would order them.
#pragma once

#include <optional>
#include <string>

#include "report/awaited_flags.h"
#include "report/loop_rounds.h"
#include "report/race_report.h"
#include "report/run_data.h"

namespace barracuda::report {

// `flag`: by which the first thread hands on what it has accessed, if it does so.
std::string missing_order(const detector::RaceEvent& race, const ptx::SiteTable& sites,
                          const Access& first, const Access& second, const LoopRounds& rounds = {},
                          const std::optional<AwaitedFlag>& flag = {});

// "block 3", or "block [1,2,0]" where the grid has more than one dimension in use.
std::string block_name(const Access& access);

}  // namespace barracuda::report

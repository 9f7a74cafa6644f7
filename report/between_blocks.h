// Races that are seen between the blocks of a launch, and within blocks as well: one race, for what
// orders blocks orders their threads, and the barriers that order threads of a block do not help.
#pragma once

#include <vector>

#include "host_detector/race_event.h"
#include "ptx/site_table.h"

namespace barracuda::report {

// The races, those within a block that are between blocks too counted there.
std::vector<detector::RaceEvent> with_blocks_first(const std::vector<detector::RaceEvent>& races,
                                                   const ptx::SiteTable& sites);

}  // namespace barracuda::report

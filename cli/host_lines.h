// Host lines for processes that had no libdw to look them up with: this command has it linked in.
#pragma once

#include "report/race_report.h"

namespace barracuda::cli {

// Looks up what `report` has left open (report::Access::host_stack).
void add_host_lines(report::Report& report);

}  // namespace barracuda::cli

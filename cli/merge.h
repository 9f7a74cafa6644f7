// `barracuda merge`: one report of what several processes, ranks or machines have left: JSON
// reports, traces, folders of runs.
#pragma once

#include "cli/arguments.h"

namespace barracuda::cli {

// Returns the exit status. The report is the one that a run of all of them together would have
// made.
int merge(const MergeCommand& command);

}  // namespace barracuda::cli

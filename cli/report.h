// `barracuda report [DIR]` and `barracuda status [DIR]`: what a run has found, from its folder.
#pragma once

#include "cli/arguments.h"

namespace barracuda::cli {

// Of a run that was killed; the exit status that it would have had.
int report_run(const ReportCommand& command);
// Of runs that are under way.
int tell_status(const StatusCommand& command);

}  // namespace barracuda::cli

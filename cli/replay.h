// `barracuda replay`: the report of a run again, from its trace.
#pragma once

#include "cli/arguments.h"

namespace barracuda::cli {

// The exit status for main.
int replay(const ReplayCommand& command);

}  // namespace barracuda::cli

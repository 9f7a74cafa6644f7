// `barracuda run`: a program and all its children under the tool, one report, one exit status.
#pragma once

#include "cli/arguments.h"

namespace barracuda::cli {

// The exit status for main.
int run(RunCommand command);

}  // namespace barracuda::cli

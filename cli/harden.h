// `barracuda harden`: finds the fences that a program needs, by experiment.
#pragma once

#include "cli/arguments.h"

namespace barracuda::cli {

// The exit status for main.
int harden(HardenCommand command);

}  // namespace barracuda::cli

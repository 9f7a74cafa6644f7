// `barracuda fix`: looks for the smallest edits under which a program's races are gone.
#pragma once

#include "cli/arguments.h"

namespace barracuda::cli {

// The status for main.
int fix(FixCommand command);

}  // namespace barracuda::cli

// `barracuda litmus`: what litmus tests end with on a device, and how often. `barracuda tune`: the
// stress that shows most of it.
#pragma once

#include "cli/arguments.h"

namespace barracuda::cli {

// The exit status for main.
int litmus(const LitmusCommand& command);
int tune(const TuneCommand& command);

}  // namespace barracuda::cli

// `barracuda explore`: every execution of small programs under a memory model, and which of them a
// test asks for.
#pragma once

#include "cli/arguments.h"

namespace barracuda::cli {

// Returns the exit status: 64 a test that cannot be read or that the model cannot take, 66 a
// verdict that differs from what was expected, 67 a bound that was hit.
int explore(const ExploreCommand& command);

}  // namespace barracuda::cli

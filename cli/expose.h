// `barracuda expose`: runs a program until weak memory makes it fail, and reports what is missing.
#pragma once

#include "cli/arguments.h"

namespace barracuda::cli {

// The exit status for main.
int expose(ExposeCommand command);

}  // namespace barracuda::cli

// `barracuda instrument`: what the tool makes of a PTX file, for curiosity and bug reports.
#pragma once

#include "cli/arguments.h"

namespace barracuda::cli {

// The exit status for main: 1 where the file cannot be read, parsed or instrumented.
int instrument(const InstrumentCommand& command);

}  // namespace barracuda::cli

// `barracuda extract`: the device code of an executable, library or fat binary, listed or saved.
#pragma once

#include "cli/arguments.h"

namespace barracuda::cli {

// The exit status for main: 1 where the file cannot be read or holds no device code.
int extract(const ExtractCommand& command);

}  // namespace barracuda::cli

// What is wrong with the files that options name, found out before a program has run for an hour.
// Complains, and returns the exit status; 0 if nothing is wrong.
#pragma once

#include <string>

#include "base/options.h"

namespace barracuda::cli {

// The report's files and the suppressions.
int check_files(const Options& options);

// Empties a file that all processes of a run write to; leaves it alone if its name holds %p, or is
// empty.
int begin_output(const std::string& pattern);

}  // namespace barracuda::cli

// What is wrong with the files that options name, found out before a program has run for an hour.
// Complains, and returns the exit status; 0 if nothing is wrong.
#pragma once

#include <string>

#include "base/options.h"

namespace barracuda::cli {

// Puts the value in place of each %q{VARIABLE} that is set here. What is left is for the processes
// of the program: a launcher tells each rank its number in a variable of its own.
void put_in_variables(Options& options);

// The report's files and the suppressions.
int check_files(const Options& options);

// A file that is written at the end, by this name: that it can be made or replaced. Empty: there is
// none. Nothing is written yet.
int check_output(const std::string& file);

// Empties a file that all processes of a run write to; leaves it alone if each process has
// one of its own, or there is no name.
int begin_output(const std::string& pattern);

}  // namespace barracuda::cli

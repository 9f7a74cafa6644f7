// Puts a report where the options say: text on stderr or in log-file, JSON Lines in json. What
// could not be written is a failure of the tool, told on stderr.
#pragma once

#include <string>

#include "base/options.h"
#include "report/race_report.h"

namespace barracuda::report {

// Leaves out what severity and suppressions say. A suppressions file that cannot be read or
// understood becomes the report's option_error.
void apply_filters(Report& report, const Options& options);
// The same with what the suppressions file held when the program ran.
void apply_filters(Report& report, const Options& options, const std::string& suppressions);

// Everything, for a process by itself. The exit status after `own` (exit_status.h); also accounts
// for what could not be written.
int publish(Report report, const Options& options, int own);

// Under `barracuda run`, a file name with %p is each process's own to write, any other is the
// run's: the two halves of publish(). The first records what it could not write in the report.
void publish_process_files(Report& report, const Options& options);
int publish_merged(Report report, const Options& options, int own);

}  // namespace barracuda::report

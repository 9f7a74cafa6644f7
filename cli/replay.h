// `barracuda replay`: the report of a run again, from its trace.
#pragma once

#include <string>

#include <tl/expected.hpp>

#include "cli/arguments.h"
#include "report/race_report.h"

namespace barracuda::cli {

// Why there is no report, and the exit status for that.
struct ReplayFailure {
  int status = 0;
  std::string message;
};

// By the recorded run's own options; with the program's status in it.
tl::expected<report::Report, ReplayFailure> replayed_report(const std::string& file);

// The exit status for main.
int replay(const ReplayCommand& command);

}  // namespace barracuda::cli

// Bugs that are known from an earlier run: only others count as findings. A baseline is a JSON
// report (schema 2 and later); what is compared is the fingerprint.
#pragma once

#include "base/options.h"
#include "report/race_report.h"

namespace barracuda::report {

enum class BaselineUse : std::uint8_t { kRead, kUpdate };

// Takes out and counts what the baseline knows, if options name one. With kUpdate and the option
// update-baseline the rest is added to the file, and is known then. A file that cannot be read or
// understood becomes the report's option_error, one that cannot be written its tool_failure.
void apply_baseline(Report& report, const Options& options, BaselineUse use);

}  // namespace barracuda::report

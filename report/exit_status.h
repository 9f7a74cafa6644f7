// The exit status that a report asks for.
#pragma once

#include "base/options.h"
#include "report/race_report.h"

namespace barracuda::report {

inline constexpr int kStatusBadOption = 64;
inline constexpr int kStatusFindings = 66;  // the default of error-exitcode
inline constexpr int kStatusNotChecked = 67;
inline constexpr int kStatusToolFailed = 70;

// `own` is the program's exit status (kUnknownStatus if it is not known), kept where nothing speaks
// against it; with exit-policy=none always, but for a bad option. The worst counts: a bad option, a
// failed tool, findings, and only then what was not checked: that is the answer for a program that
// ended well, or that cannot run here.
int exit_status(const Report& report, const Options& options, int own);

}  // namespace barracuda::report

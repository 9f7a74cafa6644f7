// The report of `barracuda expose` for people. No logic beyond layout.
#pragma once

#include <string>

#include "report/weak_finding.h"

namespace barracuda::report {

std::string weak_text_report(const WeakReport& report, bool colour);
// "BARRACUDA SUMMARY: 1 weak-memory failure (wrong output, 19 of 20 runs), 1 missing fence, …"
std::string weak_summary_line(const WeakReport& report);

}  // namespace barracuda::report

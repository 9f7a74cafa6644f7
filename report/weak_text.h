// The report of `barracuda expose` for people. No logic beyond layout. Of the style it has colour
// and prefix.
#pragma once

#include <string>

#include "report/text_writer.h"
#include "report/weak_finding.h"

namespace barracuda::report {

std::string weak_text_report(const WeakReport& report, const TextStyle& style);
// "BARRACUDA SUMMARY: 1 weak-memory failure (wrong output, 19 of 20 runs), 1 missing fence, …"
std::string weak_summary_line(const WeakReport& report);

}  // namespace barracuda::report

// The text report of `barracuda fix`.
#pragma once

#include <string>

#include "report/fix_finding.h"

namespace barracuda::report {

std::string fix_summary_line(const FixReport& report);
std::string fix_text_report(const FixReport& report, bool colour);

}  // namespace barracuda::report

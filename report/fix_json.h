// The JSON report of `barracuda fix`: the races of the program, one object of type `fix`, and a
// summary (docs/REPORTS.md).
#pragma once

#include <string>

#include "report/fix_finding.h"

namespace barracuda::report {

std::string fix_json_report(const FixReport& report);

}  // namespace barracuda::report

// docs/FINDINGS.md, which has a heading for each kind and type of finding (tools/lint_numbers.py).
#pragma once

#include <string>
#include <string_view>

#include "report/race_report.h"

namespace barracuda::report {

// The heading that a finding is looked up by: a race's kind, else the type.
std::string heading_of(const Finding& finding);

// "  See: docs/FINDINGS.md#intra-block", the last line of a finding as text.
std::string see_line(std::string_view heading);

// The page as it is installed beside the tool; empty where it is not.
std::string findings_page();

}  // namespace barracuda::report

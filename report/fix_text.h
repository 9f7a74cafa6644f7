// The text report of `barracuda fix`. Of the style it has colour and prefix.
#pragma once

#include <string>

#include "report/fix_finding.h"
#include "report/text_writer.h"

namespace barracuda::report {

std::string fix_summary_line(const FixReport& report);
std::string fix_text_report(const FixReport& report, const TextStyle& style);

}  // namespace barracuda::report

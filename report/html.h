// The report as one page of HTML that needs no network: page.html with the findings, and the lines
// of their sources that are at hand, in it.
#pragma once

#include <string>

#include "report/race_report.h"

namespace barracuda::report {

std::string html_report(const Report& report);

}  // namespace barracuda::report

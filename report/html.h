// The report as one page of HTML that needs no network: page.html with the findings, and with the
// lines of their sources where these can be read.
#pragma once

#include <string>
#include <string_view>

#include "report/race_report.h"

namespace barracuda::report {

//
// `more`: JSON Lines of expose, harden or fix, whose failures, fences and edits have pages of their
// own; the races among them are the report's.
std::string html_report(const Report& report, std::string_view more = {});

}  // namespace barracuda::report

// The report in SARIF 2.1.0, which code scanning of GitHub and GitLab, and editors, show: one
// result for each bug, at its first access; the other one is a related location, and the code flow
// has, for each thread, its last synchronisation and its access. What was not checked is a
// notification.
#pragma once

#include <string>

#include "report/race_report.h"

namespace barracuda::report {

// Files under `root` (a folder, absolute) are named relative to it, as GitHub wants them.
std::string sarif_report(const Report& report, const std::string& root);

}  // namespace barracuda::report

// The reports of several processes as one: the same race of two processes is one finding, counted.
#pragma once

#include <vector>

#include "report/race_report.h"

namespace barracuda::report {

Report merge(std::vector<Report> reports);

}  // namespace barracuda::report

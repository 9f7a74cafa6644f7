// RunData → Report: sites become source lines, linear indices become coordinates, addresses become
// allocations. A pure function but for the host stacks, which it looks up in this process, and the
// sources' text.
#pragma once

#include "base/options.h"
#include "report/race_report.h"
#include "report/run_data.h"

namespace barracuda::report {

Report resolve(const RunData& run, const Options& options);

}  // namespace barracuda::report

// The report of `barracuda expose` for programs: JSON Lines as json_writer.h, with the types
// weak-memory-failure, missing-fence, starvation and race-effect (docs/REPORTS.md), the races
// themselves, and a summary that has a field weak_memory.
#pragma once

#include <string>

#include "report/weak_finding.h"

namespace barracuda::report {

std::string weak_json_report(const WeakReport& report);

}  // namespace barracuda::report

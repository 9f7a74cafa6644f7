// What the tool did not see, as sentences: kernels without PTX, instructions not covered, records
// lost. Nothing that RunData counts may be missing here.
#pragma once

#include "report/race_report.h"
#include "report/run_data.h"

namespace barracuda::report {

Coverage coverage_of(const RunData& run);

// "1 race", "3 races"
std::string counted(std::uint64_t count, const std::string& noun);

}  // namespace barracuda::report

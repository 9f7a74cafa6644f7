// What the texts of expose, harden and fix have in common beside their findings.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/race_report.h"

namespace barracuda::report {

// Why a summary has no result to give: no run could be made, or nothing of the program was checked.
// Empty if it has.
std::string why_no_result(std::uint64_t runs, const Coverage& coverage);

// The parts of a summary: ", kernels 1/2 covered" and ", 3 runs lost, incomplete".
std::string covered_kernels(const Coverage& coverage);
std::string end_of_summary(std::uint64_t lost_runs, bool is_incomplete);

// "BARRACUDA: REMARK", a line each; last that the tool failed, if it did.
std::string remark_lines(const std::vector<std::string>& remarks,
                         const std::string& tool_failure = {});

}  // namespace barracuda::report

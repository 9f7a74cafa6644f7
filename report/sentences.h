// What a finding is and what its threads did, in the words that every report for people has.
#pragma once

#include <string>

#include "report/race_report.h"

namespace barracuda::report {

// "intra-block race on shared memory"
std::string title_of(const Finding& finding);

// "Write of 4 bytes at byte 136 by thread [32,0,0] of block [0,0,0] (warp 1, lane 0)"
std::string what_happened(const Finding& finding, const Access& access);

}  // namespace barracuda::report

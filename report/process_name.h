// Which process this is, among those of one run.
#pragma once

#include <cstdint>
#include <string>

#include "report/race_report.h"

namespace barracuda::report {

// The file name of what this process executes.
std::string program_name();

// The number that the launcher has given it (Open MPI, PMI, PMIx, Slurm, torchrun), or
// Process::kNoRank.
std::int64_t rank_of_environment();

Process this_process();

}  // namespace barracuda::report

// What a finding is and what its threads did, in the words that every report for people has.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "report/race_report.h"

namespace barracuda::report {

// What brings libdw.so.1.
inline constexpr std::string_view kLibdwPackages =
    "Debian and Ubuntu: libdw1, Fedora and Red Hat: elfutils-libs, SUSE: libdw1";

// Why not all was checked of a process that did not come to its end by itself.
std::string ended_by_limit(const std::string& who, std::uint64_t seconds);
std::string ended_by_signal(int signal);
// Only the first of them has it.
inline constexpr std::string_view kTimeLimitMark = "(time-limit)";

// "error", "warning": the JSON report, SARIF, compilers and GitHub have the same names.
std::string name_of(FindingSeverity severity);

// "intra-block race on shared memory"
std::string title_of(const Finding& finding);

// "Write of 4 bytes at byte 136 by thread [32,0,0] of block [0,0,0] (warp 1, lane 0)"
std::string what_happened(const Finding& finding, const Access& access);

// "synchronisation before the access: bar.sync"
std::string what_happened(const Sync& sync);

// "add.cu:12", or a substitute where the line is not known.
std::string place_of(const Frame& frame, const std::string& unknown);
// Without line information the function, and "?" where that is not known either.
std::string place_of(const Access& access);

// What `missing` says is an order, not what else is wrong.
bool lacks_order(const Finding& finding);

// What each thread did and where, a line each, and the missing order; no line end after the last.
std::string description_of(const Finding& finding);

}  // namespace barracuda::report

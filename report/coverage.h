// What the tool did not see, as sentences: kernels without PTX, instructions not covered, records
// lost. Nothing that RunData counts may be missing here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/race_report.h"
#include "report/run_data.h"

namespace barracuda::report {

Coverage coverage_of(const RunData& run);

// A kernel that was instrumented in one place only is one that was not.
void keep_worse(Coverage& coverage);
// That races came so often that their instructions were logged no more (race-limit).
std::string frequent_races_gap(std::uint64_t race_limit);

std::string malformed_records_gap(std::uint64_t records);
// What the user's options left out, with the kernels of which nothing was checked; empty if
// nothing.
std::string left_out(const Coverage& coverage);
// "kernels 2/2 of the program, 0/17 of libraries (libtorch_cuda.so 12, libcublas.so.13 5)", and
// "kernels 2/2 instrumented" where no library's was launched.
std::string kernel_counts(const Coverage& coverage);
// Kernels of libraries that were not instrumented, in one sentence; empty if there is none.
std::string library_gap(const Coverage& coverage);
// "no kernel was launched"; empty if a launch was to be checked.
std::string why_empty(const Coverage& coverage);

// What was not checked, a sentence each. A run that has failed need not say that it was empty.
std::vector<std::string> gaps_of(const Report& report);
// What is wrong with the options or the tool itself.
std::vector<std::string> failures_of(const Report& report);
// Both: why coverage is incomplete.
std::vector<std::string> gaps_and_failures(const Report& report);

// "1 race", "3 races"
std::string counted(std::uint64_t count, const std::string& noun);

}  // namespace barracuda::report

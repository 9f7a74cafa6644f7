// What the tool did not see, as sentences: kernels without PTX, instructions not covered, records
// lost. Nothing that RunData counts may be missing here.
#pragma once

#include "report/race_report.h"
#include "report/run_data.h"

namespace barracuda::report {

Coverage coverage_of(const RunData& run);

// A kernel that was instrumented in one place only is one that was not.
void keep_worse(Coverage& coverage);
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

// "1 race", "3 races"
std::string counted(std::uint64_t count, const std::string& noun);

}  // namespace barracuda::report

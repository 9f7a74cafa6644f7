// The end of a process that the tool watched: one call that resolves, filters, prints, writes the
// files that options name, or, under `barracuda run`, leaves everything for `run` to merge and
// print. Call it once, after the last record was applied. It never throws and never ends the
// process.
//
// A process that neither used CUDA nor met an error (RunData::used_cuda false, launch_count 0, all
// message fields empty) stays silent and keeps its status.
#pragma once

#include "base/options.h"
#include "report/run_data.h"

namespace barracuda::report {

// What to do with the exit status. If change_status is set, leave with `status` (`_exit` after
// flushing stdio); if not, the program keeps its own: nothing was found, or `run` decides for the
// whole process tree.
struct Outcome {
  int status = 0;
  bool change_status = false;
};

// What such a process is told by.
bool has_nothing_to_say(const RunData& run);

Outcome finish(const RunData& run, const Options& options) noexcept;

// Under `barracuda run`: this process has begun to use CUDA, so `run` waits for its report and
// names it if none comes (killed, _exit). Call it at the first use of CUDA, and again in a forked
// child that uses it. Does nothing without `run`. Safe to call more than once.
void announce() noexcept;

}  // namespace barracuda::report

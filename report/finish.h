// Where the report of one process goes, while it runs and at its end: under `barracuda run` into a
// spool, of which `run` makes the report; else to the files and streams that the options name.
// Nothing here throws or ends the process. Not thread-safe.
//
// A process that neither used CUDA nor met an error (RunData::used_cuda false, launch_count 0, all
// message fields empty) stays silent and keeps its status.
#pragma once

#include <optional>

#include "base/options.h"
#include "report/publish.h"
#include "report/run_data.h"
#include "report/spool.h"

namespace barracuda::report {

// What to do with the exit status. If change_status is set, leave with `status` (`_exit` after
// flushing stdio); if not, the program keeps its own: nothing was found, or `run` decides for the
// whole process tree.
struct Outcome {
  int status = 0;
  bool change_status = false;
};

// Whether such a process has nothing to report.
bool has_nothing_to_say(const RunData& run);

class Outlet {
 public:
  explicit Outlet(const Options& options);

  // This process has begun to use CUDA: `run` waits for it, and names it if it never comes to its
  // end. Call it at the first use of CUDA, and again in a forked child that uses it.
  void announce() noexcept;
  // What was found so far. True if there is an error among it.
  bool update(const RunData& run) noexcept;
  // The last word.
  Outcome finish(const RunData& run) noexcept;

 private:
  [[nodiscard]] Report make_report(const RunData& run) const;
  // The spool of this process; null if there is none to write to.
  Spool* spool();
  Outcome hand_to_run(Report report);
  Outcome publish_alone(Report report);

  const Options& options_;
  std::optional<Spool> spool_;
  std::optional<Publisher> publisher_;  // once there is something to publish
};

}  // namespace barracuda::report

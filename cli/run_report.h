// The report of a `barracuda run` from its folder: made while it runs, at its end, and by
// `barracuda report` from the folder of a run that was killed.
#pragma once

#include <chrono>
#include <string>

#include "base/options.h"
#include "report/publish.h"
#include "report/spool.h"

namespace barracuda::cli {

// How the program itself ended, as far as it is known.
struct ProgramEnd {
  int process = 0;
  int status = report::kUnknownStatus;
};

// What the processes have found, as one report. A process that is not `end`ed and has not left its
// last word is named as lost.
Expected<report::Report> report_so_far(const std::string& spools);
Expected<report::Report> final_report(const std::string& spools, const ProgramEnd& end);

// What a run has left: in its folder (run_directory.h), or in a folder of spools alone. That of a
// run's folder says that it is not finished.
Expected<report::Report> report_left_in(const std::string& folder);

// A process has begun to use CUDA, has not written its last word, and is alive.
bool any_still_running(const std::string& spools);

// What `run` does while its program runs: findings go to the files that the options name as they
// are found, a terminal shows the progress once a minute, and SIGUSR2 makes it print the report so
// far.
class RunWatch {
 public:
  RunWatch(const Options& options, std::string spools);

  // Cheap where nothing is new. `questions` counts those who have asked so far.
  void look(int questions);

  [[nodiscard]] std::chrono::seconds age() const;

  report::Publisher& publisher() { return publisher_; }

 private:
  using Clock = std::chrono::steady_clock;

  void tell_progress(const report::Report& report);

  std::string spools_;
  const Options options_;
  report::Publisher publisher_;
  Clock::time_point start_ = Clock::now(), last_look_ = start_, last_progress_ = start_;
  std::uint64_t seen_bytes_ = 0;  // in the spools, at the last look
  int answered_ = 0;
};

}  // namespace barracuda::cli

// Runs of one program as data. Each is a `run` in a process of its own, which leaves its report,
// its messages and, where asked, the program's standard output in files; so several can go on at a
// time, and what goes wrong in one stays there. For who runs a program more than once (seeds.h,
// expose.h).
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>

#include "cli/arguments.h"
#include "cli/run_directory.h"
#include "report/race_report.h"

namespace barracuda::cli {

struct ProgramRun {
  RunCommand command;
  // This process's standard streams are the program's. If not, it reads nothing, and what it and
  // the tool say on standard error goes to a file of messages.
  bool has_our_streams = false;
  bool keeps_output = false;  // what it writes to standard output goes to a file; else nowhere
};

struct ProgramEnded {
  std::uint64_t number = 0;
  int status = 0;                        // of the `run`
  std::optional<report::Report> report;  // what the program did; none: it could not even begin
  std::chrono::duration<double> time{};
};

// One object at a time: it has the signals.
class ProgramRuns {
 public:
  // From now on signals that would end this process go to the programs, and keep the next ones from
  // being started.
  explicit ProgramRuns(const RunDirectory& directory);
  ProgramRuns(const ProgramRuns&) = delete;
  ProgramRuns& operator=(const ProgramRuns&) = delete;
  ~ProgramRuns() = default;

  static constexpr std::size_t kMostAtOnce = 64;

  // `number` names its files; not that of one that is running. False: no process could be made.
  bool start(std::uint64_t number, const ProgramRun& run);
  // Nothing if a signal has come first; not to be called where nothing is running.
  std::optional<ProgramEnded> wait_for_one();

  [[nodiscard]] std::size_t running() const { return running_; }

  [[nodiscard]] bool is_running(std::uint64_t number) const;
  [[nodiscard]] static bool is_interrupted();

  // What a run that has ended left.
  [[nodiscard]] std::string output_file(std::uint64_t number) const;
  [[nodiscard]] std::string messages(std::uint64_t number) const;
  void remove_files(std::uint64_t number) const;

 private:
  struct Place {
    pid_t process = 0;
    std::uint64_t number = 0;
    std::chrono::steady_clock::time_point start;
  };

  [[noreturn]] void be_run(std::uint64_t number, const ProgramRun& run) const;
  [[nodiscard]] std::string report_file(std::uint64_t number) const;
  [[nodiscard]] std::string messages_file(std::uint64_t number) const;

  const RunDirectory& directory_;
  std::array<Place, kMostAtOnce> places_{};
  std::size_t running_ = 0;
};

// Leaves the report of one run for who has started it. The status for main.
int hand_over(const report::Report& report, const std::string& file);

// So many programs at a time: one on a GPU, which they would share, and one a core elsewhere.
std::size_t programs_at_once(const Options& options);

}  // namespace barracuda::cli

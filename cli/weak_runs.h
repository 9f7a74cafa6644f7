// The runs of a campaign (weak_memory/experiment.h) as runs of a program: settings become options
// and files, and what a run has left becomes its outcome.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/options.h"
#include "cli/program_run.h"
#include "cli/run_directory.h"
#include "weak_memory/experiment.h"

namespace barracuda::cli {

// What is the same in all of them.
struct WeakProgram {
  Options options;  // the user's
  std::vector<std::string> program;
  std::string check;        // a command of the shell; empty: none
  std::size_t at_once = 0;  // runs at a time, at most; 0: one a core, and one on a GPU
};

class WeakRuns {
 public:
  // Called when a run has ended, and now and then before, with the number of those that have.
  using Tell = std::function<void(std::uint64_t made)>;

  WeakRuns(WeakProgram program, const RunDirectory& directory, Tell tell);

  // As many at a time as there are cores, at most.
  std::vector<weak_memory::Outcome> make(const std::vector<weak_memory::Settings>& all);

  // In seconds; 0: none. From now on.
  void set_time_limit(std::uint64_t seconds) { time_limit_ = seconds; }

  // Seconds of the slowest run that ended by itself.
  [[nodiscard]] double slowest() const { return slowest_; }

  // How the first run that left no report ended, and what it said.
  [[nodiscard]] const std::optional<std::pair<int, std::string>>& first_loss() const {
    return first_loss_;
  }

 private:
  struct Files {
    std::string plan, fences, log, places, counts, ptx, trace;  // empty: not wanted
  };

  [[nodiscard]] Expected<Files> write_files(std::uint64_t number,
                                            const weak_memory::Settings& settings) const;
  [[nodiscard]] Expected<Options> options_of(std::uint64_t number,
                                             const weak_memory::Settings& settings) const;
  weak_memory::Outcome outcome_of(const ProgramEnded& ended, const weak_memory::Settings& settings);
  Expected<void> read_files(std::uint64_t number, const weak_memory::Settings& settings,
                            weak_memory::Outcome& outcome) const;
  [[nodiscard]] std::string trace_file(std::uint64_t number) const;
  [[nodiscard]] int run_check(const std::string& output) const;

  WeakProgram program_;
  const RunDirectory& directory_;
  Tell tell_;
  ProgramRuns runs_;
  std::uint64_t time_limit_ = 0, next_ = 0, made_ = 0;
  double slowest_ = 0;
  std::optional<std::pair<int, std::string>> first_loss_;
};

}  // namespace barracuda::cli

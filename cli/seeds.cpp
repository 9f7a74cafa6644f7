#include "cli/seeds.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "cli/complain.h"
#include "cli/output_files.h"
#include "cli/program_run.h"
#include "cli/ranks.h"
#include "cli/run_directory.h"
#include "report/exit_status.h"
#include "report/merge.h"
#include "report/publish.h"

namespace barracuda::cli {
namespace {

constexpr std::uint64_t kRoundRobin = 0, kReversed = 1;

constexpr int kNotMade = -1;

struct Ended {
  int status = kNotMade;  // of the process
  std::optional<report::Report> report;
};

// Starts the runs, a few at a time, and waits for them; a signal keeps the rest from starting.
class SeedRuns {
 public:
  SeedRuns(const RunCommand& first, const RunCommand& others, const RunDirectory& directory)
      : first_(first), others_(others), runs_(directory), ended_(first.options.seeds) {}

  void run_all(std::size_t at_once) {
    std::uint64_t started = 0;
    do {
      while (runs_.running() < at_once && started < ended_.size() && may_start(started)) {
        start(started++);
      }
      if (runs_.running() != 0) {
        if (auto ended = runs_.wait_for_one()) {
          ended_[ended->number] = {.status = ended->status, .report = std::move(ended->report)};
        }
      }
    } while (runs_.running() != 0 || (started < ended_.size() && may_start(started)));
  }

  [[nodiscard]] std::vector<Ended>& ended() { return ended_; }

  // What kept a run from leaving a report, when the first one left one.
  [[nodiscard]] std::string failure_of(std::uint64_t number) const {
    std::fputs(runs_.messages(number).c_str(), stderr);
    return fmt::format("run {} ({}) left no report, status {}", number + 1, schedule_of_run(number),
                       ended_[number].status);
  }

 private:
  // Nothing is to be learnt from the others where the first could not even begin.
  [[nodiscard]] bool may_start(std::uint64_t number) const {
    return !ProgramRuns::is_interrupted() &&
           (number == 0 || runs_.is_running(0) || ended_.front().report);
  }

  void start(std::uint64_t number) {
    ProgramRun run{.command = number == 0 ? first_ : others_, .has_our_streams = number == 0};
    run.command.options = options_of_run(run.command.options, number);
    if (!runs_.start(number, run)) {
      ended_[number].status = report::kStatusToolFailed;
    }
  }

  const RunCommand& first_;
  const RunCommand& others_;
  ProgramRuns runs_;
  std::vector<Ended> ended_;
};

// One line: what to choose to see a finding again.
void tell_runs(const std::vector<Ended>& all) {
  std::string text;
  std::size_t made = 0;
  for (std::size_t number = 0; number < all.size(); ++number) {
    const Ended& ended = all[number];
    if (ended.status == kNotMade) {
      continue;
    }
    ++made;
    text += (number == 0 ? "" : ", ") + schedule_of_run(number) + ": ";
    text += ended.report ? fmt::format("{} found", ended.report->findings.size()) : "no report";
    if (ended.report && ended.report->own_status != all.front().report->own_status) {
      text += fmt::format(" (the program's status is {})", ended.report->own_status);
    }
  }
  complain(fmt::format("{} runs: {}", made, text));
}

}  // namespace

std::string schedule_of_run(std::uint64_t number) {
  return number == kRoundRobin ? "schedule=round-robin"
         : number == kReversed ? "schedule=reversed"
                               : fmt::format("seed={}", number - kReversed);
}

Options options_of_run(const Options& options, std::uint64_t number) {
  Options changed = options;
  changed.seeds = 0;
  changed.schedule = number == kRoundRobin ? "round-robin"
                     : number == kReversed ? "reversed"
                                           : "random";
  if (number > kReversed) {
    changed.seed = number - kReversed;
  }
  for (std::string* const file : report_files(changed)) {
    if (!names_process(*file)) {
      file->clear();  // written of them all
    }
  }
  return changed;
}

report::Report merge_runs(std::vector<report::Report> runs) {
  report::Coverage largest;
  for (const report::Report& run : runs) {
    largest.launches = std::max(largest.launches, run.coverage.launches);
    largest.left_out_launches = std::max(largest.left_out_launches, run.coverage.left_out_launches);
  }
  report::Report all = report::merge(std::move(runs));
  all.coverage.launches = largest.launches;
  all.coverage.left_out_launches = largest.left_out_launches;
  return all;
}

int run_seeds(const RunCommand& first, const RunCommand& others, SeedOrder order) {
  const Options& options = first.options;
  if (const int status = check_files(options); status != 0) {
    return status;
  }
  const auto directory = RunDirectory::create();
  if (!directory) {
    complain(directory.error().to_string());
    return report::kStatusToolFailed;
  }
  Ranks ranks(options.exit_policy);
  SeedRuns runs(first, others, *directory);
  runs.run_all(order == SeedOrder::kParallel ? programs_at_once(options) : 1);
  std::vector<Ended>& ended = runs.ended();
  if (!ended.front().report) {
    return ended.front().status;
  }
  tell_runs(ended);
  std::string failure;
  const int own = ended.front().report->own_status;
  std::vector<report::Report> reports;
  for (std::size_t number = 0; number < ended.size(); ++number) {
    if (ended[number].report) {
      reports.push_back(std::move(*ended[number].report));
    } else if (failure.empty() && !ProgramRuns::is_interrupted()) {
      failure = runs.failure_of(number);
    }
  }
  report::Report all = merge_runs(std::move(reports));
  all.own_status = own;
  if (all.tool_failure.empty()) {
    all.tool_failure = std::move(failure);
  }
  if (ProgramRuns::is_interrupted()) {
    all.coverage.gaps.emplace_back("an interruption kept the rest of the runs from being made");
  }
  const int status = report::Publisher(options, report::Publishes::kRunFiles).finish(all);
  return ranks.agree({.own = own, .status = status, .is_idle = is_idle(all)},
                     &ProgramRuns::is_interrupted);
}

}  // namespace barracuda::cli

#include "cli/seeds.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <fcntl.h>
#include <optional>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "base/driver_presence.h"
#include "base/file.h"
#include "cli/child_process.h"
#include "cli/complain.h"
#include "cli/output_files.h"
#include "cli/ranks.h"
#include "cli/run.h"
#include "cli/run_directory.h"
#include "report/exit_status.h"
#include "report/merge.h"
#include "report/publish.h"
#include "report/spool.h"

namespace barracuda::cli {
namespace {

constexpr std::uint64_t kRoundRobin = 0, kReversed = 1;
constexpr std::size_t kMostAtOnce = 64;
constexpr std::array kForwarded = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

// What the signal handler needs. Lock-free, and never shrinks: 0 is a free place.
std::array<std::atomic<pid_t>, kMostAtOnce> g_runs{};
std::atomic<bool> g_interrupted = false;

// The terminal's own Ctrl-C has reached the runs already: they are in our group.
void forward(int signal, siginfo_t* info, void*) {
  const int saved = errno;
  g_interrupted = true;
  for (const std::atomic<pid_t>& run : g_runs) {
    if (const pid_t process = run.load(); process != 0 && info->si_code != SI_KERNEL) {
      kill(process, signal);
    }
  }
  errno = saved;
}

struct RunFiles {
  std::string report, messages;
};

RunFiles files_of_run(const RunDirectory& directory, std::uint64_t number) {
  return {.report = directory.file(fmt::format("run{}.report", number)),
          .messages = directory.file(fmt::format("run{}.messages", number))};
}

void redirect(int descriptor, const char* file, int flags) {
  constexpr mode_t kPrivate = 0600;
  const int opened = open(file, flags | O_CLOEXEC, kPrivate);
  if (opened >= 0) {
    dup2(opened, descriptor);
    close(opened);
  }
}

// In the forked process, and never returns.
[[noreturn]] void be_run(const RunCommand& command, std::uint64_t number, const RunFiles& files) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (number != 0) {
    redirect(STDIN_FILENO, "/dev/null", O_RDONLY);
    redirect(STDOUT_FILENO, "/dev/null", O_WRONLY);
    redirect(STDERR_FILENO, files.messages.c_str(), O_WRONLY | O_CREAT | O_TRUNC);
  }
  int status = report::kStatusToolFailed;
  try {
    RunCommand run_command = command;
    run_command.options = options_of_run(command.options, number);
    run_command.report_file = files.report;
    status = run(std::move(run_command));
  } catch (const std::exception& error) {
    complain(error.what());
  }
  (void)std::fflush(nullptr);
  _exit(status);
}

constexpr int kNotMade = -1;

struct Ended {
  int status = kNotMade;  // of the process
  std::optional<report::Report> report;
};

Expected<Ended> read_run(const std::string& file, int status) {
  Ended ended{.status = status, .report = std::nullopt};
  TRY(const std::string text, read_file(file));
  TRY(ended.report, report::parse_report(text));
  return ended;
}

// Starts the runs, so many at a time, and waits for them; a signal keeps the rest from starting.
class Runs {
 public:
  Runs(const RunCommand& first, const RunCommand& others, const RunDirectory& directory)
      : first_(first), others_(others), directory_(directory), ended_(first.options.seeds) {}

  void run_all(std::size_t at_once) {
    std::uint64_t started = 0;
    do {
      while (running_ < at_once && started < ended_.size() && may_start(started)) {
        start(started++);
      }
    } while (running_ != 0 && wait_for_one());
  }

  [[nodiscard]] std::vector<Ended>& ended() { return ended_; }

 private:
  // Nothing is to be learnt from the others where the first could not even begin.
  [[nodiscard]] bool may_start(std::uint64_t number) const {
    return !g_interrupted && (number == 0 || first_is_running() || ended_.front().report);
  }

  [[nodiscard]] bool first_is_running() const {
    return std::ranges::any_of(
        places_, [](const Place& place) { return place.process != 0 && place.number == 0; });
  }

  void start(std::uint64_t number) {
    (void)std::fflush(nullptr);
    const pid_t process = fork();
    if (process == 0) {
      be_run(number == 0 ? first_ : others_, number, files_of_run(directory_, number));
    }
    if (process < 0) {
      ended_[number].status = report::kStatusToolFailed;
      return;
    }
    const auto place = std::ranges::find(places_, 0, &Place::process);
    *place = {.process = process, .number = number};
    g_runs[static_cast<std::size_t>(place - places_.begin())] = process;
    ++running_;
  }

  // False if there is nothing to wait for.
  bool wait_for_one() {
    int status = 0;
    const pid_t process = waitpid(-1, &status, 0);
    if (process < 0) {
      return errno == EINTR;
    }
    const auto place = std::ranges::find(places_, process, &Place::process);
    if (place == places_.end()) {
      return true;  // left behind by a program, and come to us
    }
    g_runs[static_cast<std::size_t>(place - places_.begin())] = 0;
    --running_;
    place->process = 0;
    const int code = shell_status(status);
    auto read = read_run(files_of_run(directory_, place->number).report, code);
    ended_[place->number] = read ? std::move(*read) : Ended{.status = code, .report = std::nullopt};
    return true;
  }

  struct Place {
    pid_t process = 0;
    std::uint64_t number = 0;
  };

  const RunCommand& first_;
  const RunCommand& others_;
  const RunDirectory& directory_;
  std::vector<Ended> ended_;
  std::array<Place, kMostAtOnce> places_{};
  std::size_t running_ = 0;
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

// What kept a run from leaving a report, when the first one left one.
std::string failure_of(const RunDirectory& directory, std::uint64_t number, const Ended& ended) {
  const auto messages = read_file(files_of_run(directory, number).messages);
  std::fputs(messages.value_or("").c_str(), stderr);
  return fmt::format("run {} ({}) left no report, status {}", number + 1, schedule_of_run(number),
                     ended.status);
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
  for (std::string* const file : {&changed.json, &changed.log_file}) {
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

int hand_over(const report::Report& report, const std::string& file) {
  if (auto written = write_file(file, report::serialise(report)); !written) {
    complain(written.error().to_string());
    return report::kStatusToolFailed;
  }
  return report.own_status;
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
  handle_signals(kForwarded, forward);
  Runs runs(first, others, *directory);
  const std::size_t cores =
      std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, kMostAtOnce);
  const bool is_emulated = options.device == "cpu" || !driver_is_present();
  runs.run_all(is_emulated && order == SeedOrder::kParallel ? cores : 1);
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
    } else if (failure.empty() && !g_interrupted) {
      failure = failure_of(*directory, number, ended[number]);
    }
  }
  report::Report all = merge_runs(std::move(reports));
  all.own_status = own;
  if (all.tool_failure.empty()) {
    all.tool_failure = std::move(failure);
  }
  if (g_interrupted) {
    all.coverage.gaps.emplace_back("an interruption kept the rest of the runs from being made");
  }
  const int status = report::Publisher(options, report::Publishes::kRunFiles).finish(all);
  return ranks.settle({.own = own, .status = status, .is_idle = is_idle(all)},
                      [] { return g_interrupted.load(); });
}

}  // namespace barracuda::cli

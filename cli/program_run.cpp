#include "cli/program_run.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <fcntl.h>
#include <filesystem>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "base/assert.h"
#include "base/driver_presence.h"
#include "base/file.h"
#include "cli/child_process.h"
#include "cli/complain.h"
#include "cli/run.h"
#include "report/exit_status.h"
#include "report/spool.h"

namespace barracuda::cli {
namespace {

constexpr std::array kForwarded = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

// What the signal handler needs. Lock-free, and never shrinks: 0 is a free place.
std::array<std::atomic<pid_t>, ProgramRuns::kMostAtOnce> g_runs{};
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

void redirect(int descriptor, const std::string& file, int flags) {
  constexpr mode_t kPrivate = 0600;
  const int opened = open(file.c_str(), flags | O_CLOEXEC, kPrivate);
  if (opened >= 0) {
    dup2(opened, descriptor);
    close(opened);
  }
}

}  // namespace

ProgramRuns::ProgramRuns(const RunDirectory& directory) : directory_(directory) {
  handle_signals(kForwarded, forward);
}

// In the forked process, and never returns.
void ProgramRuns::be_run(std::uint64_t number, const ProgramRun& run) const {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  constexpr int kAnew = O_WRONLY | O_CREAT | O_TRUNC;
  if (!run.has_our_streams) {
    redirect(STDIN_FILENO, "/dev/null", O_RDONLY);
    redirect(STDOUT_FILENO, run.keeps_output ? output_file(number) : "/dev/null",
             run.keeps_output ? kAnew : O_WRONLY);
    redirect(STDERR_FILENO, messages_file(number), kAnew);
  }
  int status = report::kStatusToolFailed;
  try {
    RunCommand command = run.command;
    command.report_file = report_file(number);
    status = cli::run(std::move(command));
  } catch (const std::exception& error) {
    complain(error.what());
  }
  (void)std::fflush(nullptr);
  _exit(status);
}

bool ProgramRuns::start(std::uint64_t number, const ProgramRun& run) {
  const auto place = std::ranges::find(places_, 0, &Place::process);
  ASSERT(place != places_.end() && !is_running(number));
  (void)std::fflush(nullptr);
  const auto start = std::chrono::steady_clock::now();
  const pid_t process = fork();
  if (process == 0) {
    be_run(number, run);
  }
  if (process < 0) {
    return false;
  }
  *place = {.process = process, .number = number, .start = start};
  g_runs[static_cast<std::size_t>(place - places_.begin())] = process;
  ++running_;
  return true;
}

std::optional<ProgramEnded> ProgramRuns::wait_for_one() {
  ASSERT(running_ != 0);
  while (true) {
    int status = 0;
    const pid_t process = waitpid(-1, &status, 0);
    if (process < 0 && errno == EINTR) {
      return std::nullopt;
    }
    // A process that ignores SIGCHLD cannot wait for one of several children: then all of them have
    // ended.
    const auto place = process < 0
                           ? std::ranges::find_if(
                                 places_, [](const Place& each) { return each.process != 0; })
                           : std::ranges::find(places_, process, &Place::process);
    if (place == places_.end()) {
      continue;  // left behind by a program, and come to us
    }
    g_runs[static_cast<std::size_t>(place - places_.begin())] = 0;
    --running_;
    place->process = 0;
    ProgramEnded ended{.number = place->number,
                       .status = process < 0 ? report::kStatusToolFailed : shell_status(status),
                       .report = std::nullopt,
                       .time = std::chrono::steady_clock::now() - place->start};
    if (const auto text = read_file(report_file(place->number))) {
      if (auto report = report::parse_report(*text)) {
        ended.report = std::move(*report);
      }
    }
    return ended;
  }
}

bool ProgramRuns::is_running(std::uint64_t number) const {
  return std::ranges::any_of(places_, [number](const Place& place) {
    return place.process != 0 && place.number == number;
  });
}

bool ProgramRuns::is_interrupted() {
  return g_interrupted;
}

std::string ProgramRuns::report_file(std::uint64_t number) const {
  return directory_.file(fmt::format("run{}.report", number));
}

std::string ProgramRuns::messages_file(std::uint64_t number) const {
  return directory_.file(fmt::format("run{}.messages", number));
}

std::string ProgramRuns::output_file(std::uint64_t number) const {
  return directory_.file(fmt::format("run{}.output", number));
}

std::string ProgramRuns::messages(std::uint64_t number) const {
  return read_file(messages_file(number)).value_or("");
}

void ProgramRuns::remove_files(std::uint64_t number) const {
  std::error_code error;
  for (const std::string& file :
       {report_file(number), messages_file(number), output_file(number)}) {
    std::filesystem::remove(file, error);
  }
}

int hand_over(const report::Report& report, const std::string& file) {
  if (auto written = write_file(file, report::serialise(report)); !written) {
    complain(written.error().to_string());
    return report::kStatusToolFailed;
  }
  return report.own_status;
}

std::size_t programs_at_once(const Options& options) {
  const bool is_emulated = options.device == "cpu" || !driver_is_present();
  return is_emulated ? std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1,
                                               ProgramRuns::kMostAtOnce)
                     : 1;
}

}  // namespace barracuda::cli

#include "cli/run.h"

#include <chrono>
#include <csignal>
#include <optional>
#include <sys/personality.h>

#include <fmt/format.h>

#include "base/driver_presence.h"
#include "base/log.h"
#include "cli/child_process.h"
#include "cli/complain.h"
#include "cli/environment.h"
#include "cli/expected_output.h"
#include "cli/output_files.h"
#include "cli/program_caches.h"
#include "cli/program_file.h"
#include "cli/program_run.h"
#include "cli/ranks.h"
#include "cli/run_directory.h"
#include "cli/run_report.h"
#include "cli/seeds.h"
#include "cli/tool_library.h"
#include "report/exit_status.h"
#include "report/sentences.h"
#include "session/plan.h"
#include "trace/recorder.h"

namespace barracuda::cli {
namespace {

// What the program would otherwise have to guess from where its files are.
void log_caches(const ToolEnvironment& tool) {
  if (const auto levels = parse_log_levels(tool.options.log)) {
    set_log_levels(*levels);
  }
  if (!tool.caches.empty()) {
    log(Folder::kCli, LogLevel::kInfo, "program-caches=own sets %s",
        fmt::format("{}", fmt::join(tool.caches, " ")).c_str());
  }
}

Expected<std::vector<std::string>> prepare_environment(const Options& options, bool is_emulated,
                                                       const RunDirectory& directory) {
  TRY(const std::string library, find_tool_library());
  ToolEnvironment tool{.preload = sanitizer_runtimes_of(library),
                       .library_folder = "",
                       .run_directory = directory.spools(),
                       .options = options,
                       .caches = own_program_caches(options, current_environment())};
  log_caches(tool);
  TRY(std::string preloadable, directory.preloadable(library));
  tool.preload.push_back(std::move(preloadable));
  if (is_emulated) {
    TRY(tool.library_folder, directory.link_cuda_libraries(library));
  }
  return child_environment(current_environment(), tool);
}

// The emulated device's addresses are the process's own: without randomisation the report is the
// same to the last byte. Where the system does not allow it, addresses differ from run to run.
void keep_addresses() {
  constexpr unsigned long kAsk = 0xffffffff;
  const int current = personality(kAsk);
  if (current >= 0) {
    (void)personality(static_cast<unsigned>(current) | ADDR_NO_RANDOMIZE);
  }
}

// Asks the program to end when its time is over, and ends it when it does not.
class TimeLimit {
 public:
  explicit TimeLimit(std::uint64_t seconds) : limit_(seconds) {}

  void look(const ChildProcess& child, std::chrono::seconds age) {
    constexpr std::chrono::seconds kGrace{5};
    if (limit_ == std::chrono::seconds{0} || age < limit_) {
      return;
    }
    if (!is_over_) {
      is_over_ = true;
      child.send(SIGTERM);
    } else if (age >= limit_ + kGrace) {
      child.send(SIGKILL);
    }
  }

  [[nodiscard]] bool is_over() const { return is_over_; }

 private:
  std::chrono::seconds limit_;
  bool is_over_ = false;
};

report::Report collect(const std::string& spools, const ProgramEnd& end) {
  auto report = final_report(spools, end);
  if (report) {
    return std::move(*report);
  }
  report::Report failed;
  failed.tool_failure = report.error().to_string();
  failed.own_status = end.status;
  return failed;
}

// The trace gets what only this process knows.
void record_end(report::Report& report, const Options& options, int own) {
  if (options.record.empty() || names_process(options.record)) {
    return;
  }
  const trace::ProgramEnded end{.options = trace::run_options(options),
                                .status = static_cast<std::uint32_t>(own),
                                .lost = report.lost,
                                .blocked = report.blocked};
  const auto path = expand_file_name(options.record);
  const auto written =
      path ? trace::record_program_end(*path, end) : Expected<void>(unexpected(path.error()));
  if (!written && report.tool_failure.empty()) {
    report.tool_failure =
        "the end of the trace could not be written: " + written.error().to_string();
  }
}

// Makes the options those of the run, with what its plan says. Not 0: the status to end with.
int prepare(Options& options) {
  make_paths_absolute(options);
  auto planned = session::take_plan(options);
  if (planned) {
    planned = resolve_schedule(options);
  }
  if (!planned) {
    complain(planned.error().to_string());
    return report::kStatusBadOption;
  }
  const int status = check_files(options);
  return status != 0 ? status : begin_output(options.record);  // which the processes append to
}

}  // namespace

int run(RunCommand command) {
  Options& options = command.options;
  if (options.seeds > 1) {
    return run_seeds(command, command, SeedOrder::kOneByOne);
  }
  int status = prepare(options);
  if (status != 0) {
    return status;
  }
  std::optional<Ranks> ranks;
  if (command.report_file.empty()) {
    ranks.emplace(options.exit_policy);
  }
  const bool has_driver = driver_is_present();
  if (options.device == "gpu" && !has_driver) {
    complain(
        "device=gpu: this machine has no NVIDIA driver; without it, kernels run on the "
        "emulated device (device=cpu)");
    return report::kStatusNotChecked;
  }
  const bool is_emulated = options.device == "cpu" || !has_driver;
  const auto directory = RunDirectory::create();
  auto environment = directory ? prepare_environment(options, is_emulated, *directory)
                               : Expected<std::vector<std::string>>(unexpected(directory.error()));
  if (!environment) {
    complain(environment.error().to_string());
    return report::kStatusToolFailed;
  }
  if (is_emulated && options.seed) {
    keep_addresses();
  }
  if (auto described = directory->describe(command.program.front(), options); !described) {
    complain(described.error().to_string());
    return report::kStatusToolFailed;
  }
  std::optional<ExpectedOutput> output;
  if (command.report_file.empty()) {
    output.emplace(options);
  }
  auto child = ChildProcess::start(command.program, *environment);
  if (!child) {
    complain(child.error().message);
    return child.error().status;
  }
  if (output) {
    output->let_go();
  }
  RunWatch watch(options, directory->spools());
  TimeLimit limit(options.time_limit);
  const auto meanwhile = [&] {
    watch.look(ChildProcess::questions());
    limit.look(*child, watch.age());
  };
  const int own = child->wait(meanwhile);
  ChildProcess::wait_for_orphans([&] { return any_still_running(directory->spools()); }, meanwhile);
  report::Report all = collect(directory->spools(), {.process = child->process(), .status = own});
  if (limit.is_over()) {
    // Each process has reported the signal; this is the report of all.
    std::erase(all.coverage.gaps, report::ended_by_signal(SIGTERM));
    all.coverage.gaps.push_back(report::ended_by_limit("the program", options.time_limit));
  }
  // Obstacles are the only reasons that no process of the trace tells.
  if (all.blocked.empty() && all.coverage.launches == 0) {
    all.blocked = obstacles(command.program.front(), is_emulated);
  }
  if (all.model.empty()) {
    all.model = options.model;
  }
  record_end(all, options, own);
  if (!command.report_file.empty()) {
    return hand_over(all, command.report_file);
  }
  status = watch.publisher().finish(all);
  output->tell();
  return ranks->agree({.own = own, .status = status, .is_idle = is_idle(all)},
                      &ChildProcess::is_interrupted);
}

}  // namespace barracuda::cli

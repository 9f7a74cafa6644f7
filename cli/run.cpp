#include "cli/run.h"

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <signal.h>
#include <sys/personality.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/driver_presence.h"
#include "cli/child_process.h"
#include "cli/complain.h"
#include "cli/environment.h"
#include "cli/output_files.h"
#include "cli/program_file.h"
#include "cli/run_directory.h"
#include "fatbin/host_image.h"
#include "report/exit_status.h"
#include "report/merge.h"
#include "report/process_status.h"
#include "report/publish.h"
#include "trace/recorder.h"

namespace barracuda::cli {
namespace {

namespace fs = std::filesystem;

// The program may change its folder before its processes write or read these.
void make_paths_absolute(Options& options) {
  for (std::string* const path :
       {&options.json, &options.log_file, &options.suppressions, &options.record}) {
    std::error_code error;
    if (!path->empty()) {
      const fs::path absolute = fs::absolute(*path, error);
      *path = error ? *path : absolute.string();
    }
  }
}

Expected<std::string> find_library() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  const fs::path library = self.parent_path().parent_path() / "lib" / "libbarracuda.so";
  if (error || !fs::exists(library, error)) {
    return unexpected({.message = "the library is missing: it belongs beside this command, at " +
                                  library.string()});
  }
  return library.string();
}

// A sanitizer's runtime has to be loaded before a library that is built with it.
std::vector<std::string> sanitizer_runtimes(const std::string& library) {
  std::vector<std::string> runtimes;
  if (const auto image = fatbin::read_host_image(library)) {
    for (const std::string& needed : image->needed) {
      if (needed.starts_with("libasan.") || needed.starts_with("libubsan.") ||
          needed.starts_with("libtsan.")) {
        runtimes.push_back(needed);
      }
    }
  }
  return runtimes;
}

Expected<std::vector<std::string>> prepare_environment(const Options& options, bool is_emulated,
                                                       const RunDirectory& directory) {
  TRY(const std::string library, find_library());
  ToolEnvironment tool{.preload = sanitizer_runtimes(library),
                       .library_folder = "",
                       .run_directory = directory.reports(),
                       .options = options};
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

// A process that has announced itself, has not reported, and is still alive.
bool any_still_running(const std::string& reports) {
  const auto processes = report::read_process_reports(reports);
  if (!processes) {
    return false;
  }
  for (const report::AnnouncedProcess& process : processes->unreported) {
    if (kill(process.process, 0) == 0) {
      return true;
    }
  }
  return false;
}

// How the program itself ended, for the message about its missing report.
struct ProgramEnd {
  int process = 0;
  int status = 0;
};

std::string lost_process(const report::AnnouncedProcess& process, const ProgramEnd& program) {
  const int signal = program.status - 128;
  const bool was_killed = process.process == program.process && signal > 0;
  return fmt::format("process {} ({}) used CUDA and ended without a report: {}", process.process,
                     process.program,
                     was_killed ? fmt::format("signal {} ({})", signal, strsignal(signal))
                                : "it was killed or left by _exit");
}

report::Report collect(const std::string& reports, const ProgramEnd& program) {
  auto processes = report::read_process_reports(reports);
  if (!processes) {
    report::Report failed;
    failed.tool_failure = processes.error().to_string();
    return failed;
  }
  report::Report all = report::merge(std::move(processes->reports));
  for (const report::AnnouncedProcess& process : processes->unreported) {
    all.lost.push_back(lost_process(process, program));
  }
  return all;
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

}  // namespace

int run(RunCommand command) {
  Options& options = command.options;
  make_paths_absolute(options);
  int status = check_files(options);
  if (status == 0) {
    status = begin_output(options.record);  // which the processes append to
  }
  if (status != 0) {
    return status;
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
  auto child = ChildProcess::start(command.program, *environment);
  if (!child) {
    complain(child.error().message);
    return child.error().status;
  }
  const int own = child->wait();
  ChildProcess::wait_for_orphans([&] { return any_still_running(directory->reports()); });
  report::Report all = collect(directory->reports(), {.process = child->process(), .status = own});
  // Obstacles are the only reasons that no process of the trace tells.
  if (all.blocked.empty() && all.coverage.launches == 0) {
    all.blocked = obstacles(command.program.front(), is_emulated);
  }
  if (all.model.empty()) {
    all.model = options.model;
  }
  record_end(all, options, own);
  return report::publish_merged(std::move(all), options, own);
}

}  // namespace barracuda::cli

#include "report/finish.h"

#include <exception>
#include <string>
#include <unistd.h>
#include <utility>

#include "report/exit_status.h"
#include "report/process_status.h"
#include "report/publish.h"
#include "report/resolve.h"

namespace barracuda::report {
namespace {

Outcome hand_to_run(const std::string& directory, Report report, const Options& options) {
  publish_process_files(report, options);
  if (auto written = write_process_report(directory, report); !written) {
    report.tool_failure =
        "the report could not be handed to barracuda run: " + written.error().to_string();
    return {.status = publish(std::move(report), options, 0), .change_status = true};
  }
  return {};
}

}  // namespace

bool has_nothing_to_say(const RunData& run) {
  return !run.used_cuda && run.launch_count == 0 && run.kernels.empty() && run.blocked.empty() &&
         run.option_error.empty() && run.tool_failure.empty();
}

Outcome finish(const RunData& run, const Options& options) noexcept {
  try {
    if (has_nothing_to_say(run)) {
      return {};
    }
    Report report = resolve(run, options);
    apply_filters(report, options);
    if (const std::string directory = run_directory(); !directory.empty()) {
      return hand_to_run(directory, std::move(report), options);
    }
    constexpr int kOwn = -1;
    const int status = publish(std::move(report), options, kOwn);
    return status == kOwn ? Outcome{} : Outcome{.status = status, .change_status = true};
  } catch (const std::exception& error) {
    const std::string message =
        std::string("BARRACUDA: the report could not be made: ") + error.what() + "\n";
    (void)!write(STDERR_FILENO, message.data(), message.size());
    return {.status = kStatusToolFailed, .change_status = true};
  }
}

void announce() noexcept {
  try {
    if (const std::string directory = run_directory(); !directory.empty()) {
      // If this fails, so will the report itself, and that is told.
      (void)announce_process(directory);
    }
  } catch (const std::exception&) {
    return;
  }
}

}  // namespace barracuda::report

#include "cli/report.h"

#include <fmt/format.h>

#include "cli/complain.h"
#include "cli/run_directory.h"
#include "cli/run_report.h"
#include "report/exit_status.h"
#include "report/text_style.h"
#include "report/text_writer.h"

namespace barracuda::cli {
namespace {

void tell_one(const RunFolder& run) {
  const auto report = report_so_far(run.spools());
  const std::string text =
      report ? report::text_report(*report, report::text_style({}, report::TextTarget::kFile))
             : report.error().to_string() + "\n";
  fmt::print("{} (process {}, {}):\n{}", run.program, run.process, run.path, text);
}

}  // namespace

int report_run(const ReportCommand& command) {
  RunFolder run;
  if (command.directory.empty()) {
    for (RunFolder& found : find_runs()) {
      if (!found.is_running()) {
        run = std::move(found);  // the last of them is the newest
      }
    }
    if (run.path.empty()) {
      complain("no killed run has left a folder; its name is given as barracuda report DIR");
      return report::kStatusBadOption;
    }
  } else if (auto found = read_run(command.directory)) {
    run = std::move(*found);
  } else {
    complain(found.error().to_string());
    return report::kStatusBadOption;
  }
  Options options;
  if (auto parsed = parse_options(options, run.options); !parsed) {
    complain(run.path + ": " + parsed.error().to_string());
    return report::kStatusBadOption;
  }
  options.json = command.json;
  options.log_file = command.log_file;
  auto report = report_left_in(run.path);
  if (!report) {
    complain(report.error().to_string());
    return report::kStatusBadOption;
  }
  const int status = report::Publisher(options, report::Publishes::kEverything).finish(*report);
  return status == report::kUnknownStatus ? 0 : status;
}

int tell_status(const StatusCommand& command) {
  if (!command.directory.empty()) {
    const auto run = read_run(command.directory);
    if (!run) {
      complain(run.error().to_string());
      return report::kStatusBadOption;
    }
    tell_one(*run);
    return 0;
  }
  bool is_any = false;
  for (const RunFolder& run : find_runs()) {
    if (run.is_running()) {
      tell_one(run);
      is_any = true;
    }
  }
  if (!is_any) {
    complain("no barracuda run of yours is under way");
  }
  return 0;
}

}  // namespace barracuda::cli

#include "cli/merge.h"

#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"
#include "cli/complain.h"
#include "cli/output_files.h"
#include "cli/replay.h"
#include "cli/run_report.h"
#include "report/exit_status.h"
#include "report/json_reader.h"
#include "report/merge.h"
#include "report/publish.h"
#include "trace/block.h"

namespace barracuda::cli {
namespace {

bool is_trace(std::string_view text) {
  const std::uint32_t magic = trace::kMagic;
  return text.starts_with(std::string_view(reinterpret_cast<const char*>(&magic), sizeof magic));
}

ReplayFailure bad(const Diagnostic& problem) {
  return {.status = report::kStatusBadOption, .message = problem.to_string()};
}

// A trace is replayed; of the folder of a run, or of its spools, the report is made.
tl::expected<report::Report, ReplayFailure> read_report(const std::string& file) {
  std::error_code error;
  if (std::filesystem::is_directory(file, error)) {
    return report_left_in(file).map_error(bad);
  }
  const Expected<std::string> text = read_file(file);
  if (!text) {
    return tl::unexpected(bad(text.error()));
  }
  if (is_trace(*text)) {
    return replayed_report(file);
  }
  return report::read_json_report(*text, file).map_error(bad);
}

}  // namespace

int merge(const MergeCommand& command) {
  if (const int status = check_files(command.options); status != 0) {
    return status;
  }
  std::vector<report::Report> reports;
  for (const std::string& file : command.files) {
    auto read = read_report(file);
    if (!read) {
      complain(read.error().message);
      return read.error().status;
    }
    reports.push_back(std::move(*read));
  }
  report::Report all = report::merge(std::move(reports));
  report::apply_filters(all, command.options);
  return report::publish(std::move(all), command.options, 0);
}

}  // namespace barracuda::cli

#include "report/publish.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

#include "base/file.h"
#include "report/exit_status.h"
#include "report/json_writer.h"
#include "report/suppression.h"
#include "report/text_writer.h"

namespace barracuda::report {
namespace {

// Not stdio: the program may have closed or redirected its streams, and its buffers are its own.
Expected<void> write_to_stderr(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written < 0) {
      return unexpected({.message = std::string("standard error: ") + std::strerror(errno)});
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Expected<void> write_named_file(const std::string& pattern, std::string_view text) {
  TRY(const std::string path, expand_file_name(pattern));
  return write_file(path, text);
}

void write_json(Report& report, const Options& options) {
  if (auto written = write_named_file(options.json, json_report(report)); !written) {
    report.tool_failure = "the JSON report could not be written: " + written.error().to_string();
  }
}

void write_text(Report& report, const Options& options) {
  const std::string text =
      text_report(report, {.colour = false, .print_limit = options.print_limit});
  if (!options.log_file.empty()) {
    auto written = write_named_file(options.log_file, text);
    if (written) {
      return;
    }
    // The findings must not be lost with the file: they go to stderr.
    report.tool_failure = "the text report could not be written: " + written.error().to_string();
  }
  const bool colour = isatty(STDERR_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr;
  auto written =
      write_to_stderr(text_report(report, {.colour = colour, .print_limit = options.print_limit}));
  if (!written) {
    report.tool_failure = "the text report could not be written: " + written.error().to_string();
  }
}

}  // namespace

void apply_filters(Report& report, const Options& options) {
  if (options.suppressions.empty()) {
    filter(report, options.severity == "error", {});
    return;
  }
  auto text = read_file(options.suppressions);
  if (text) {
    apply_filters(report, options, *text);
    return;
  }
  report.option_error = "option suppressions: " + text.error().to_string();
  filter(report, options.severity == "error", {});
}

void apply_filters(Report& report, const Options& options, const std::string& suppressions) {
  const auto parsed = Suppressions::parse(suppressions, options.suppressions);
  if (!parsed) {
    report.option_error = "option suppressions: " + parsed.error().to_string();
  }
  filter(report, options.severity == "error", parsed.value_or(Suppressions{}));
}

int publish(Report report, const Options& options, int own) {
  if (!options.json.empty()) {
    write_json(report, options);
  }
  write_text(report, options);
  return exit_status(report, options, own);
}

void publish_process_files(Report& report, const Options& options) {
  if (names_process(options.json)) {
    write_json(report, options);
  }
  if (names_process(options.log_file)) {
    write_text(report, options);
  }
}

int publish_merged(Report report, const Options& options, int own) {
  if (!options.json.empty() && !names_process(options.json)) {
    write_json(report, options);
  }
  if (!names_process(options.log_file)) {
    write_text(report, options);
  } else if (auto written = write_to_stderr(summary_line(report) + "\n"); !written) {
    report.tool_failure = written.error().to_string();
  }
  return exit_status(report, options, own);
}

}  // namespace barracuda::report

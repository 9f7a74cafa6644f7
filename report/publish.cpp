#include "report/publish.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <poll.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "report/baseline.h"
#include "report/bug.h"
#include "report/exit_status.h"
#include "report/html.h"
#include "report/json_writer.h"
#include "report/junit.h"
#include "report/library_suppressions.h"
#include "report/sarif.h"
#include "report/suppression.h"
#include "report/text_style.h"
#include "report/text_writer.h"

namespace barracuda::report {
namespace {

// The pieces, one for each bug, that `written` lacks; it has them afterwards.
template <typename Print>
std::string take_new(Publisher::Written& written, const Report& report, const Print& print) {
  std::string text;
  for (const Bug& bug : bugs_of(report.findings)) {
    const std::string piece = print(bug);
    const std::string& fingerprint = bug.shown().fingerprint;
    if (written.try_emplace(fingerprint.empty() ? piece : fingerprint, piece).second) {
      text += piece;
    }
  }
  return text;
}

// More is known of a bug than when it was written: it has happened again.
bool has_outdated(const Publisher::Written& written, const Report& report) {
  return std::ranges::any_of(bugs_of(report.findings), [&](const Bug& bug) {
    const auto known = written.find(bug.shown().fingerprint);
    return known != written.end() && known->second != json_line(bug, report.model);
  });
}

std::string new_lines(Publisher::Written& written, const Report& report) {
  return take_new(written, report, [&](const Bug& bug) { return json_line(bug, report.model); });
}

std::string new_blocks(Publisher::Written& written, const Report& report, const TextStyle& style) {
  return take_new(written, report, [&](const Bug& bug) { return text_block(bug, report, style); });
}

// Opens `file` at the first time, empty. Null if it cannot grow: then it is written at the end.
AppendedFile* growing(std::optional<AppendedFile>& file, const std::string& pattern) {
  if (file) {
    return &*file;
  }
  const auto path = expand_file_name(pattern);
  if (!path || !can_grow(*path)) {
    return nullptr;
  }
  auto opened = AppendedFile::open(*path, AppendedFile::Begin::kEmpty);
  if (opened) {
    file = std::move(*opened);
  }
  return file ? &*file : nullptr;
}

}  // namespace

Expected<void> write_named_file(const std::string& pattern, std::string_view text) {
  TRY(const std::string path, expand_file_name(pattern));
  return write_file(path, text);
}

// Not stdio: the program may have closed or redirected its streams, and its buffers are its own.
Expected<void> write_to_stderr(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written < 0 && errno == EAGAIN) {
      // The program, or who reads the other end, has made the pipe or terminal not wait.
      pollfd ready{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
      (void)poll(&ready, 1, -1);
      continue;
    }
    if (written < 0) {
      return unexpected({.message = std::string("standard error: ") + std::strerror(errno)});
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

void apply_filters(Report& report, const Options& options) {
  if (options.suppressions.empty()) {
    apply_filters(report, options, "");
    return;
  }
  auto text = read_file(options.suppressions);
  if (!text) {
    report.option_error = "option suppressions: " + text.error().to_string();
  }
  apply_filters(report, options, text.value_or(""));
}

void apply_filters(Report& report, const Options& options, const std::string& suppressions) {
  const auto parsed = Suppressions::parse(suppressions, options.suppressions);
  if (!parsed) {
    report.option_error = "option suppressions: " + parsed.error().to_string();
  }
  // The user's first: filter() begins the list in the report, with all of them, matched or not.
  filter(report, options.severity == "error", parsed.value_or(Suppressions{}));
  if (!options.library_suppressions || report.findings.empty()) {
    return;
  }
  const auto libraries = library_suppressions();
  if (!libraries) {
    report.option_error = "option library-suppressions: " + libraries.error().to_string();
  }
  filter_libraries(report, libraries.value_or(Suppressions{}), options.race_limit);
}

Publisher::Publisher(Options options, Publishes what) : options_(std::move(options)), what_(what) {}

bool Publisher::is_ours(const std::string& file) const {
  return !file.empty() && (what_ == Publishes::kEverything ||
                           names_process(file) == (what_ == Publishes::kProcessFiles));
}

// A launcher of ranks may be linked with CUDA, and has no rank.
bool Publisher::owes(const std::string& file, const Report& report) const {
  return is_ours(file) && (what_ != Publishes::kProcessFiles || report.coverage.launches != 0 ||
                           expand_file_name(file));
}

bool Publisher::goes_live() const {
  return options_.report == "live" && options_.log_file.empty() &&
         what_ != Publishes::kProcessFiles;
}

void Publisher::update(const Report& so_far) {
  if (so_far.findings.empty()) {
    return;
  }
  Report report = so_far;
  apply_baseline(report, options_, BaselineUse::kRead);
  if (is_ours(options_.json) && options_.json_schema != "1") {
    if (AppendedFile* const json = growing(json_, options_.json)) {
      (void)json->append(new_lines(in_json_, report));
    }
  }
  if (is_ours(options_.log_file)) {
    if (AppendedFile* const log = growing(log_, options_.log_file)) {
      (void)log->append(new_blocks(in_log_, report, text_style(options_, TextTarget::kFile)));
    }
  }
  if (goes_live()) {
    (void)write_to_stderr(
        new_blocks(on_stderr_, report, text_style(options_, TextTarget::kStandardError)));
  }
}

Expected<void> Publisher::finish_json(const Report& report) {
  if (json_ && !has_outdated(in_json_, report)) {
    return json_->append(new_lines(in_json_, report) + json_summary(report));
  }
  if (json_) {
    return json_->replace(json_report(report));
  }
  const int schema = options_.json_schema == "1" ? 1 : kJsonSchema;
  return write_named_file(options_.json, json_report(report, schema));
}

Expected<void> Publisher::finish_log(const Report& report) {
  const std::string text = text_report(report, text_style(options_, TextTarget::kFile));
  return log_ ? log_->replace(text) : write_named_file(options_.log_file, text);
}

Expected<void> Publisher::finish_stderr(const Report& report) {
  const TextStyle style = text_style(options_, TextTarget::kStandardError);
  if (what_ == Publishes::kRunFiles && names_process(options_.log_file)) {
    return write_to_stderr(summary_line(report) + "\n");  // the rest is in the processes' files
  }
  if (goes_live()) {
    return write_to_stderr(new_blocks(on_stderr_, report, style) + text_closing(report, style));
  }
  return write_to_stderr(text_report(report, style));
}

void Publisher::finish_text(Report& report) {
  const auto note = [&report](const Expected<void>& written) {
    if (!written) {
      report.tool_failure = "the text report could not be written: " + written.error().to_string();
    }
    return written.has_value();
  };
  if (owes(options_.log_file, report) && note(finish_log(report))) {
    if (!report.tool_failure.empty()) {
      // Of an exit status 70 the terminal has to have the reason.
      (void)write_to_stderr(fmt::format("BARRACUDA: the tool failed: {}\n", report.tool_failure));
    }
    return;
  }
  // The findings must not be lost with the file: they go to stderr.
  if (what_ != Publishes::kProcessFiles || owes(options_.log_file, report)) {
    (void)note(finish_stderr(report));
  }
}

void Publisher::finish_files(Report& report) {
  const auto write = [&](const std::string& file, const char* what, const auto& content) {
    if (!owes(file, report)) {
      return;
    }
    if (auto written = content(); !written) {
      report.tool_failure =
          fmt::format("the {} could not be written: {}", what, written.error().to_string());
    }
  };
  write(options_.generate_suppressions, "suppressions",
        [&] { return write_named_file(options_.generate_suppressions, suppressions_for(report)); });
  write(options_.html, "HTML report",
        [&] { return write_named_file(options_.html, html_report(report)); });
  write(options_.sarif, "SARIF report", [&] {
    std::error_code no_folder;  // then every file keeps its whole name
    const auto root = std::filesystem::current_path(no_folder);
    return write_named_file(options_.sarif, sarif_report(report, root.string()));
  });
  write(options_.junit, "JUnit report",
        [&] { return write_named_file(options_.junit, junit_report(report)); });
  write(options_.json, "JSON report", [&] { return finish_json(report); });
  finish_text(report);
}

int Publisher::finish(Report& report) {
  if (what_ == Publishes::kProcessFiles) {
    // What is known is left out for the run as a whole, which gets all findings of this process.
    Report own = report;
    apply_baseline(own, options_, BaselineUse::kRead);
    finish_files(own);
    report.tool_failure = own.tool_failure;
  } else {
    apply_baseline(report, options_, BaselineUse::kUpdate);
    finish_files(report);
  }
  return exit_status(report, options_, report.own_status);
}

int publish(Report report, const Options& options, int own) {
  report.own_status = own;
  return Publisher(options, Publishes::kEverything).finish(report);
}

}  // namespace barracuda::report

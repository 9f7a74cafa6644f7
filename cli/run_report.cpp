#include "cli/run_report.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <unistd.h>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/complain.h"
#include "cli/host_lines.h"
#include "cli/run_directory.h"
#include "report/merge.h"
#include "report/text_style.h"
#include "report/text_writer.h"

namespace barracuda::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kLookEvery{500};
constexpr std::chrono::minutes kProgressEvery{1};

std::string lost_process(const report::SpooledProcess& process, const ProgramEnd& end) {
  const int signal = process.process == end.process ? report::signal_of(end.status) : 0;
  return fmt::format(
      "process {} ({}) ended before its last word: {}. What was found until then is reported",
      process.process, process.program,
      signal != 0 ? fmt::format("signal {} ({})", signal, strsignal(signal))
                  : "it was killed, or left past its exit handlers");
}

report::Report merged(std::vector<report::SpooledProcess> processes) {
  std::vector<report::Report> reports;
  reports.reserve(processes.size());
  for (report::SpooledProcess& process : processes) {
    reports.push_back(std::move(process.report));
  }
  report::Report merged = report::merge(std::move(reports));
  add_host_lines(merged);
  return merged;
}

std::uint64_t bytes_in(const std::string& folder) {
  std::uint64_t bytes = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    bytes += entry.file_size(error);
  }
  return bytes;
}

bool holds_spools(const std::string& folder) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".spool") {
      return true;
    }
  }
  return false;
}

}  // namespace

Expected<report::Report> report_so_far(const std::string& spools) {
  TRY(auto processes, report::read_spools(spools));
  return merged(std::move(processes));
}

Expected<report::Report> final_report(const std::string& spools, const ProgramEnd& end) {
  TRY(auto processes, report::read_spools(spools));
  std::vector<std::string> lost;
  for (const report::SpooledProcess& process : processes) {
    if (!process.has_ended) {
      lost.push_back(lost_process(process, end));
    }
  }
  report::Report report = merged(std::move(processes));
  report.lost = std::move(lost);
  report.own_status = end.status;
  return report;
}

Expected<report::Report> report_left_in(const std::string& folder) {
  const auto run = read_run(folder);
  if (!run) {
    return holds_spools(folder) ? final_report(folder, {})
                                : Expected<report::Report>(unexpected(run.error()));
  }
  TRY(report::Report report, final_report(run->spools(), {}));
  report.coverage.gaps.push_back(
      run->is_running() ? "the run is still under way"
                        : "barracuda run was killed: how its program ended is not known");
  return report;
}

bool any_still_running(const std::string& spools) {
  const auto processes = report::read_spools(spools);
  return processes && std::ranges::any_of(*processes, [](const report::SpooledProcess& process) {
           return !process.has_ended && kill(process.process, 0) == 0;
         });
}

RunWatch::RunWatch(const Options& options, std::string spools)
    : spools_(std::move(spools)),
      options_(options),
      publisher_(options, report::Publishes::kRunFiles) {}

std::chrono::seconds RunWatch::age() const {
  return std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - start_);
}

void RunWatch::look(int questions) {
  const auto now = Clock::now();
  const bool is_asked = questions != answered_;
  if (now - last_look_ < kLookEvery && !is_asked) {
    return;
  }
  last_look_ = now;
  const bool is_progress_due = now - last_progress_ >= kProgressEvery && isatty(STDERR_FILENO) == 1;
  const std::uint64_t bytes = bytes_in(spools_);
  if (bytes == seen_bytes_ && !is_asked && !is_progress_due) {
    return;
  }
  const auto report = report_so_far(spools_);
  if (!report) {
    return;  // reported at the end
  }
  seen_bytes_ = bytes;
  publisher_.update(*report);
  if (is_asked) {
    answered_ = questions;
    report::TextStyle style = report::text_style(options_, report::TextTarget::kStandardError);
    style.colour = false;
    style.format = report::TextFormat::kText;
    (void)report::write_to_stderr(report::text_report(*report, style));
  }
  if (is_progress_due) {
    last_progress_ = now;
    tell_progress(*report);
  }
}

void RunWatch::tell_progress(const report::Report& report) {
  constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20;
  complain(fmt::format("after {} minutes: {} launches, {} findings{}", age().count() / 60,
                       report.coverage.launches, report.findings.size(),
                       report.waiting_bytes < kMebibyte
                           ? ""
                           : fmt::format(", {} MiB of records wait to be checked",
                                         report.waiting_bytes / kMebibyte)));
}

}  // namespace barracuda::cli

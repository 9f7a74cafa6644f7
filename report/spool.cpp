#include "report/spool.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/assert.h"
#include "report/process_name.h"

namespace barracuda::report {

// One row a struct: the fields that travel. nlohmann finds these by argument-dependent look-up.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Frame, function, file, line)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(HostFrame, function, file, line, module, offset, is_script, path,
                                   file_address)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Sync, when, instruction, place)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Access, operation, note, size, address, has_address, place,
                                   source, object, inlined, callers, instruction, ptx_line,
                                   statement, order, variable, kernel, launch, stream, is_by_host,
                                   has_thread, thread, block, grid, warp, lane, launched_from,
                                   module, host_stack, last_sync, last_sync_place, last_sync_source,
                                   syncs, has_all_syncs)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Process, program, pid, rank)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Lack, missing, kind, scope, first, second, about, first_sync,
                                   second_sync, are_updates)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Finding, type, severity, kind, space, count, missing, location,
                                   has_other_places, accesses, fingerprint, processes, lacks)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LibraryKernels, instrumented, not_instrumented)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Coverage, launches, instrumented, not_instrumented, libraries,
                                   gaps, left_out_launches, left_out_kernels, left_out_libraries)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SuppressionUse, rule, count, reason)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Report, findings, processes, coverage, suppressed, suppressions,
                                   known, model, device, blocked, lost, own_status, option_error,
                                   tool_failure, waiting_bytes)

namespace {

using ParsedJson = nlohmann::json;

// Bump with any change to the structs above or to the lines.
constexpr int kFormatVersion = 10;
constexpr std::string_view kSuffix = ".spool";

std::string line_of(const ParsedJson& json) {
  return json.dump(-1, ' ', false, ParsedJson::error_handler_t::replace) + "\n";
}

// "12.0.spool" is of process 12, and its first.
std::pair<int, int> numbers_in(const std::string& file_name) {
  int process = 0;
  int number = 0;
  const char* const end = file_name.data() + file_name.size();
  const auto read = std::from_chars(file_name.data(), end, process);
  if (read.ec == std::errc() && read.ptr != end) {
    std::from_chars(read.ptr + 1, end, number);
  }
  return {process, number};
}

void take_line(SpooledProcess& process, const ParsedJson& line) {
  if (line.contains("spool")) {
    process.process = line.at("process").get<int>();
    process.program = line.at("program").get<std::string>();
    return;
  }
  process.has_ended = line.contains("ended");
  std::vector<Finding>& findings = process.report.findings;
  if (line.contains("finding")) {
    const auto index = line.at("finding").get<std::size_t>();
    findings.resize(std::max(findings.size(), index + 1));
    findings[index] = line.at("is").get<Finding>();
  } else if (line.contains("rest")) {
    std::vector<Finding> kept = std::move(findings);
    process.report = line.at("rest").get<Report>();
    kept.resize(line.at("findings").get<std::size_t>());
    findings = std::move(kept);
  }
}

}  // namespace

std::string run_directory() {
  const char* const directory = std::getenv(kRunDirectoryVariable);
  struct stat status{};
  if (directory == nullptr || stat(directory, &status) != 0 || !S_ISDIR(status.st_mode)) {
    return "";
  }
  return directory;
}

Expected<Spool> Spool::create(const std::string& directory) {
  constexpr unsigned kPrivate = 0600;
  const int process = getpid();
  // A process number may come back within one run, and what a process executes may change.
  for (int number = 0;; ++number) {
    const std::string path = fmt::format("{}/{}.{}{}", directory, process, number, kSuffix);
    if (access(path.c_str(), F_OK) == 0) {
      continue;
    }
    TRY(AppendedFile file, AppendedFile::open(path, AppendedFile::Begin::kNew, kPrivate));
    const std::string first =
        line_of({{"spool", kFormatVersion}, {"process", process}, {"program", program_name()}});
    if (auto written = file.append(first); !written) {
      return unexpected(std::move(written).error());
    }
    return Spool(std::move(file), process);
  }
}

std::string Spool::changes(const Report& report) {
  ASSERT(process_ == getpid());  // the parent's findings are not a forked child's to tell
  std::string text;
  const std::size_t known = findings_.size();
  findings_.resize(report.findings.size());
  for (std::size_t i = 0; i < report.findings.size(); ++i) {
    std::string line = line_of({{"finding", i}, {"is", report.findings[i]}});
    if (line != findings_[i]) {
      text += line;
      findings_[i] = std::move(line);
    }
  }
  Report without_findings = report;
  without_findings.findings.clear();
  std::string rest = line_of({{"rest", without_findings}, {"findings", report.findings.size()}});
  if (rest != rest_ || known > report.findings.size()) {
    text += rest;
    rest_ = std::move(rest);
  }
  return text;
}

Expected<void> Spool::update(const Report& report) {
  const std::string text = changes(report);
  return text.empty() ? Expected<void>() : file_.append(text);
}

Expected<void> Spool::end(const Report& report) {
  return file_.append(changes(report) + line_of({{"ended", true}}));
}

Expected<SpooledProcess> parse_spool(const std::string& text) {
  SpooledProcess process;
  process.report.coverage.gaps.clear();
  std::size_t number = 0;
  try {
    for (std::size_t at = 0; at < text.size(); ++number) {
      const std::size_t end = text.find('\n', at);
      if (end == std::string::npos) {
        break;  // cut off
      }
      const ParsedJson line = ParsedJson::parse(text.begin() + static_cast<std::ptrdiff_t>(at),
                                                text.begin() + static_cast<std::ptrdiff_t>(end));
      if (number == 0 && line.at("spool").get<int>() != kFormatVersion) {
        return unexpected({.message = "is of another version of the tool"});
      }
      take_line(process, line);
      at = end + 1;
    }
  } catch (const nlohmann::json::exception& error) {
    return unexpected(
        {.message = fmt::format("line {} cannot be understood: {}", number + 1, error.what())});
  }
  return process;
}

std::string serialise(const Report& report) {
  return line_of({{"version", kFormatVersion}, {"report", report}});
}

Expected<Report> parse_report(const std::string& text) {
  try {
    const ParsedJson json = ParsedJson::parse(text);
    if (json.at("version").get<int>() != kFormatVersion) {
      return unexpected({.message = "this report is of another version of the tool"});
    }
    return json.at("report").get<Report>();
  } catch (const ParsedJson::exception& error) {
    return unexpected({.message = std::string("this report cannot be read: ") + error.what()});
  }
}

Expected<std::vector<SpooledProcess>> read_spools(const std::string& directory) {
  std::error_code error;
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    if (const std::string name = entry.path().filename(); name.ends_with(kSuffix)) {
      names.push_back(name);
    }
  }
  if (error) {
    return unexpected({.message = error.message(), .file = directory});
  }
  std::ranges::sort(names, {}, numbers_in);
  std::vector<SpooledProcess> processes;
  for (const std::string& name : names) {
    const std::string path = fmt::format("{}/{}", directory, name);
    TRY(const std::string text, read_file(path));
    auto process = parse_spool(text);
    if (!process) {
      return unexpected(
          {.message = fmt::format("what a process has left {}", process.error().message),
           .file = path});
    }
    if (process->process != 0) {  // else not even its first line is whole
      processes.push_back(std::move(*process));
    }
  }
  return processes;
}

}  // namespace barracuda::report

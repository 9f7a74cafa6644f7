#include "report/process_status.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/file.h"

namespace barracuda::report {

// One row a struct: the fields that travel. nlohmann finds these by argument-dependent look-up.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Frame, function, file, line)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Access, operation, note, size, address, has_address, place,
                                   inlined, callers, instruction, ptx_line, kernel, launch, stream,
                                   is_by_host, has_thread, thread, block, warp, lane, launched_from,
                                   last_sync, last_sync_place)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Finding, type, severity, kind, space, count, missing, location,
                                   accesses)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Coverage, launches, kernels, instrumented, gaps)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Report, findings, coverage, suppressed, model, device, blocked,
                                   lost, option_error, tool_failure)

namespace {

// Bump with any change to the structs above.
constexpr int kFormatVersion = 1;
constexpr std::string_view kReportSuffix = ".json";
constexpr std::string_view kAnnouncedSuffix = ".announced";

// Written under another name and renamed: a reader sees all of it or nothing.
Expected<void> write_atomically(const std::string& path, std::string_view text) {
  const std::string temporary = path + ".part";
  if (auto written = write_file(temporary, text); !written) {
    std::remove(temporary.c_str());
    return written;
  }
  if (std::rename(temporary.c_str(), path.c_str()) != 0) {
    return unexpected(
        {.message = std::string("cannot be renamed: ") + std::strerror(errno), .file = temporary});
  }
  return {};
}

int process_of(const std::string& file_name) {
  int process = 0;
  std::from_chars(file_name.data(), file_name.data() + file_name.size(), process);
  return process;
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

std::string program_name() {
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  if (length <= 0) {
    return "?";
  }
  return std::filesystem::path(std::string(path, static_cast<std::size_t>(length))).filename();
}

Expected<void> announce_process(const std::string& directory) {
  return write_atomically(fmt::format("{}/{}{}", directory, getpid(), kAnnouncedSuffix),
                          program_name());
}

Expected<void> write_process_report(const std::string& directory, const Report& report) {
  // A process number may come back within one run, and a process may report twice (exec).
  for (int number = 0;; ++number) {
    const std::string path = fmt::format("{}/{}.{}{}", directory, getpid(), number, kReportSuffix);
    if (access(path.c_str(), F_OK) != 0) {
      return write_atomically(path, serialise(report));
    }
  }
}

Expected<ProcessReports> read_process_reports(const std::string& directory) {
  std::error_code error;
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    names.push_back(entry.path().filename());
  }
  if (error) {
    return unexpected({.message = error.message(), .file = directory});
  }
  std::ranges::sort(names, {},
                    [](const std::string& name) { return std::pair(process_of(name), name); });
  ProcessReports result;
  std::map<int, std::string> announced;
  for (const std::string& name : names) {
    const bool is_report = name.ends_with(kReportSuffix);
    if (!is_report && !name.ends_with(kAnnouncedSuffix)) {
      continue;
    }
    TRY(std::string text, read_file(directory + "/" + name));
    if (!is_report) {
      announced.emplace(process_of(name), std::move(text));
      continue;
    }
    TRY(Report report, parse_report(text));
    result.reports.push_back(std::move(report));
  }
  for (const std::string& name : names) {
    if (name.ends_with(kReportSuffix)) {
      announced.erase(process_of(name));
    }
  }
  for (auto& [process, program] : announced) {
    result.unreported.push_back({.process = process, .program = std::move(program)});
  }
  return result;
}

std::string serialise(const Report& report) {
  const nlohmann::json json = {{"version", kFormatVersion}, {"report", report}};
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Expected<Report> parse_report(const std::string& text) {
  try {
    const nlohmann::json json = nlohmann::json::parse(text);
    if (json.at("version").get<int>() != kFormatVersion) {
      return unexpected({.message = "a process left a report of another version of the tool"});
    }
    return json.at("report").get<Report>();
  } catch (const nlohmann::json::exception& error) {
    return unexpected(
        {.message = std::string("a process left a report that cannot be read: ") + error.what()});
  }
}

}  // namespace barracuda::report

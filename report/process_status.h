// How a process under `barracuda run` hands its report to it. BARRACUDA_RUN_DIRECTORY names a
// folder; a process that begins to use CUDA leaves `<pid>.announced` there, and at its end its
// report as
// `<pid>.<n>.json`, complete or not at all. `run` collects them. The format is private to one
// build: a file of another version is an error, never half understood.
#pragma once

#include <string>
#include <vector>

#include "base/expected.h"
#include "report/race_report.h"

namespace barracuda::report {

inline constexpr const char kRunDirectoryVariable[] = "BARRACUDA_RUN_DIRECTORY";

// The folder, if this process is under `run` and it still exists; else empty.
std::string run_directory();

// The file name of what this process executes.
std::string program_name();

Expected<void> announce_process(const std::string& directory);
Expected<void> write_process_report(const std::string& directory, const Report& report);

struct AnnouncedProcess {
  int process = 0;
  std::string program;
};

struct ProcessReports {
  std::vector<Report> reports;
  std::vector<AnnouncedProcess> unreported;  // announced, no report yet
};

Expected<ProcessReports> read_process_reports(const std::string& directory);

std::string serialise(const Report& report);
Expected<Report> parse_report(const std::string& text);

}  // namespace barracuda::report

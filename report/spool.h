// What a process under `barracuda run` has found, kept where nothing that ends the process can take
// it away. BARRACUDA_RUN_DIRECTORY names a folder, private to the user; a process that begins to
// use CUDA makes `<pid>.<n>.spool` there and appends what is new as it is found. `run` makes the
// report of these files, whatever ended their processes.
//
// A spool is lines of JSON. The kernel keeps what was written when a process dies, so that no more
// is needed than whole lines and a mark of the end (docs/decisions/spool.md): a last line without
// its line feed is a write that was cut off, and is left out. The format is private to one build: a
// file of another version is an error, never half understood.
#pragma once

#include <string>
#include <vector>

#include "base/expected.h"
#include "base/file.h"
#include "report/race_report.h"

namespace barracuda::report {

inline constexpr const char kRunDirectoryVariable[] = "BARRACUDA_RUN_DIRECTORY";

// The folder, if this process is under `run` and it still exists; else empty.
std::string run_directory();

// The writing end, one for a process.
class Spool {
 public:
  static Expected<Spool> create(const std::string& directory);

  // Appends what differs from the last time.
  Expected<void> update(const Report& report);
  // The last word. A process that goes on after all (exec failed) may update() it again.
  Expected<void> end(const Report& report);

  // The process that made it; a forked child must not write to it.
  [[nodiscard]] int process() const { return process_; }

 private:
  Spool(AppendedFile file, int process) : file_(std::move(file)), process_(process) {}

  // The lines that would bring a reader up to date.
  std::string changes(const Report& report);

  AppendedFile file_;
  int process_;
  std::vector<std::string> findings_;  // the last line of each
  std::string rest_;
};

// What a process left.
struct SpooledProcess {
  int process = 0;
  std::string program;
  Report report;
  bool has_ended = false;  // it came to write its last word
};

// In the order of the processes' numbers, of one process in the order in which they were begun.
Expected<std::vector<SpooledProcess>> read_spools(const std::string& directory);

// A whole report as text, and back.
std::string serialise(const Report& report);
Expected<Report> parse_report(const std::string& text);

// Of one file's content.
Expected<SpooledProcess> parse_spool(const std::string& text);

}  // namespace barracuda::report

// Puts a report where the options say: text on stderr or in log-file, JSON Lines in json, SARIF and
// JUnit in theirs. What is found is written as it is found, where a file can grow, so that it is
// there whatever ends the process or the machine's patience. What could not be written is a failure
// of the tool, and printed to stderr.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/options.h"
#include "report/race_report.h"

namespace barracuda::report {

// Leaves out what severity and suppressions say. A suppressions file that cannot be read or
// understood becomes the report's option_error.
void apply_filters(Report& report, const Options& options);
// The same with what the suppressions file held when the program ran.
void apply_filters(Report& report, const Options& options, const std::string& suppressions);

// Under `barracuda run`, a file name with %p is each process's own to write, any other is the
// run's.
enum class Publishes : std::uint8_t { kEverything, kProcessFiles, kRunFiles };

class Publisher {
 public:
  // What was written of each bug last, by fingerprint.
  using Written = std::map<std::string, std::string>;

  Publisher(Options options, Publishes what);

  // What was found so far. Costs little where nothing is new. What cannot be written now is tried
  // again at the end, and only then reported.
  void update(const Report& report);

  // Everything, once. The exit status (exit_status.h); also accounts for what could not be written,
  // which becomes the report's tool_failure.
  int finish(Report& report);

 private:
  [[nodiscard]] bool is_ours(const std::string& file) const;
  [[nodiscard]] bool owes(const std::string& file, const Report& report) const;
  [[nodiscard]] bool goes_live() const;
  Expected<void> finish_json(const Report& report);
  Expected<void> finish_log(const Report& report);
  Expected<void> finish_stderr(const Report& report);
  void finish_text(Report& report);
  void finish_files(Report& report);

  const Options options_;
  const Publishes what_;
  std::optional<AppendedFile> json_, log_;  // once they have begun to grow
  Written in_json_, in_log_, on_stderr_;
};

// All at once. `own` is the program's own status, kUnknownStatus if it is not known.
int publish(Report report, const Options& options, int own);

// To the file that an option names.
Expected<void> write_named_file(const std::string& pattern, std::string_view text);

// To standard error, past the program's own streams.
Expected<void> write_to_stderr(std::string_view text);

}  // namespace barracuda::report

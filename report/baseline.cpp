#include "report/baseline.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <set>
#include <string>
#include <unistd.h>

#include "base/file.h"
#include "report/bug.h"
#include "report/json_reader.h"
#include "report/json_writer.h"

namespace barracuda::report {
namespace {

using Fingerprints = std::set<std::string>;

Expected<Fingerprints> read_baseline(const Options& options) {
  // The first run with update-baseline makes it.
  if (options.update_baseline && access(options.baseline.c_str(), F_OK) != 0) {
    return Fingerprints{};
  }
  TRY(const std::string text, read_file(options.baseline));
  TRY(const Report report, read_json_report(text, options.baseline));
  Fingerprints known;
  for (const Finding& finding : report.findings) {
    known.insert(finding.fingerprint);
  }
  return known;
}

void take_known(Report& report, const Fingerprints& known) {
  Fingerprints seen;
  std::erase_if(report.findings, [&](const Finding& finding) {
    const bool is_known = known.contains(finding.fingerprint);
    if (is_known) {
      seen.insert(finding.fingerprint);
    }
    return is_known;
  });
  report.known += seen.size();
}

// In one write, behind what is there: several processes may do it at once.
Expected<void> append(const std::string& path, const std::string& text) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  const bool is_written =
      file >= 0 && write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int error = errno;
  if (file >= 0) {
    close(file);
  }
  if (!is_written) {
    return unexpected(
        {.message = std::string("cannot be written: ") + std::strerror(error), .file = path});
  }
  return {};
}

}  // namespace

void apply_baseline(Report& report, const Options& options, BaselineUse use) {
  if (options.baseline.empty()) {
    return;
  }
  const auto known = read_baseline(options);
  if (!known) {
    report.option_error = "option baseline: " + known.error().to_string();
    return;
  }
  take_known(report, *known);
  if (use == BaselineUse::kRead || !options.update_baseline) {
    return;
  }
  if (auto written = append(options.baseline, json_report(report)); !written) {
    report.tool_failure = "the baseline could not be updated: " + written.error().to_string();
    return;
  }
  report.known += bugs_of(report.findings).size();
  report.findings.clear();
}

}  // namespace barracuda::report

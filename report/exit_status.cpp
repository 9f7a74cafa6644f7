#include "report/exit_status.h"

namespace barracuda::report {

int exit_status(const Report& report, const Options& options, int own) {
  if (!report.option_error.empty()) {
    return kStatusBadOption;
  }
  if (!report.tool_failure.empty()) {
    return kStatusToolFailed;
  }
  if (!report.findings.empty() && options.error_exitcode != 0) {
    return static_cast<int>(options.error_exitcode);
  }
  // A process that was killed has a status of its own that says more.
  const bool is_lost = !report.lost.empty() && own == 0;
  const bool nothing_ran = report.coverage.launches == 0 && report.lost.empty();
  if (!report.blocked.empty() || nothing_ran || is_lost ||
      (options.strict && !report.covers_everything())) {
    return kStatusNotChecked;
  }
  return own;
}

}  // namespace barracuda::report

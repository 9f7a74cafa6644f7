#include "report/exit_status.h"

namespace barracuda::report {

int exit_status(const Report& report, const Options& options, int own) {
  if (!report.option_error.empty()) {
    return kStatusBadOption;
  }
  if (options.exit_policy == "none" && own != kUnknownStatus) {
    return own;
  }
  if (!report.tool_failure.empty()) {
    return kStatusToolFailed;
  }
  if (!report.findings.empty() && options.error_exitcode != 0) {
    return static_cast<int>(options.error_exitcode);
  }
  if (signal_of(own) != 0) {
    return own;
  }
  // A program that fails has a status that says more, unless it fails because it cannot run here.
  const bool went_well = own == 0 || own == kUnknownStatus;
  const bool was_checked = !report.coverage.is_empty() &&
                           report.coverage.instrumented_kernels() != 0 && report.lost.empty();
  const bool is_incomplete = (options.strict && !report.covers_program()) ||
                             (options.strict_libraries && !report.covers_everything());
  if (!report.blocked.empty() || (went_well && (!was_checked || is_incomplete))) {
    return kStatusNotChecked;
  }
  return own;
}

}  // namespace barracuda::report

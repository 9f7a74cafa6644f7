// A JSON report (json_writer.h) as a report again, for `barracuda merge` and baselines. Types and
// fields that are not known are skipped; of lines with one fingerprint the last one stands.
#pragma once

#include <string>
#include <string_view>

#include "base/expected.h"
#include "report/race_report.h"

namespace barracuda::report {

// Errors name the line; schema 1 is one, for its findings have no fingerprints. A report without
// its summary is a gap in the coverage. `file` is only for messages.
Expected<Report> read_json_report(std::string_view text, const std::string& file);

}  // namespace barracuda::report

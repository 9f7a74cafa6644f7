// The report for programs: JSON Lines (docs/report.schema.json). One object a bug and the summary
// last; what is not known is null. Readers skip types and fields that they do not know: bump
// kJsonSchema only when a field changes its meaning. In schema 1 each variant of a bug is a line.
#pragma once

#include <string>

#include "report/bug.h"

namespace barracuda::report {

inline constexpr int kJsonSchema = 2;

std::string json_report(const Report& report, int schema = kJsonSchema);
// Its parts, for a report that grows: the line of one bug, and the last line.
std::string json_line(const Bug& bug, const std::string& model);
std::string json_summary(const Report& report);

}  // namespace barracuda::report

// The report for programs: JSON Lines, schema 1 (docs/report.schema.json). One object a finding and
// the summary last; what is not known is null. Bump `schema` when a field changes its meaning.
#pragma once

#include <string>

#include "report/race_report.h"

namespace barracuda::report {

std::string json_report(const Report& report);

}  // namespace barracuda::report

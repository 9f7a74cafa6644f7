#include "report/findings_page.h"

#include <fmt/format.h>

#include "report/own_prefix.h"

namespace barracuda::report {

std::string heading_of(const Finding& finding) {
  return finding.type == FindingType::kRace ? finding.kind : name_of(finding.type);
}

std::string see_line(std::string_view heading) {
  return fmt::format("  See: docs/FINDINGS.md#{}\n", heading);
}

std::string findings_page() {
  return file_in_prefix("share/doc/barracuda/docs/FINDINGS.md");
}

}  // namespace barracuda::report

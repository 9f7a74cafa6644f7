#include "report/remarks.h"

#include <fmt/format.h>

#include "report/coverage.h"

namespace barracuda::report {

std::string why_no_result(std::uint64_t runs, const Coverage& coverage) {
  return runs == 0 ? "no run could be made" : why_empty(coverage);
}

std::string covered_kernels(const Coverage& coverage) {
  return fmt::format(", kernels {}/{} covered", coverage.instrumented_kernels(),
                     coverage.kernels());
}

std::string end_of_summary(std::uint64_t lost_runs, bool is_incomplete) {
  std::string text;
  if (lost_runs != 0) {
    text += fmt::format(", {} lost", counted(lost_runs, "run"));
  }
  return text + (is_incomplete ? ", incomplete" : "");
}

std::string remark_lines(const std::vector<std::string>& remarks, const std::string& tool_failure) {
  std::string text;
  for (const std::string& remark : remarks) {
    text += "BARRACUDA: " + remark + "\n";
  }
  if (!tool_failure.empty()) {
    text += "BARRACUDA: the tool failed: " + tool_failure + "\n";
  }
  return text;
}

}  // namespace barracuda::report

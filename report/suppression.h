// Findings that a user has judged and does not want to see again. A file has one pattern a line:
// `field:glob` words that must all match, fields kernel, function, file and kind (docs/REPORTS.md).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/expected.h"
#include "report/race_report.h"

namespace barracuda::report {

// `*` stands for any text; the pattern may match anywhere unless anchored with ^ and $.
bool matches(std::string_view pattern, std::string_view text);

class Suppressions {
 public:
  // Errors name the line (and `file`, which is only for that).
  static Expected<Suppressions> parse(std::string_view text, const std::string& file);

  [[nodiscard]] bool suppress(const Finding& finding) const;

 private:
  enum class Field : std::uint8_t { kKernel, kFunction, kFile, kKind };

  struct Condition {
    Field field = Field::kKernel;
    std::string pattern;
  };

  using Rule = std::vector<Condition>;

  static Expected<Rule> parse_rule(std::string_view line);
  static Expected<Condition> take_condition(std::string_view& rest);
  static bool holds(const Condition& condition, const Finding& finding);

  std::vector<Rule> rules_;
};

// Takes out what `severity=` and the suppressions leave out, and counts the latter.
void filter(Report& report, bool errors_only, const Suppressions& suppressions);

}  // namespace barracuda::report

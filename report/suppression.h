// Findings that a user has judged and does not want to see again. A file has one rule a line:
// `field:glob` words that must all match, or one of ThreadSanitizer's; or it is compute-sanitizer's
// XML (docs/REPORTS.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/expected.h"
#include "report/race_report.h"
#include "report/sanitizer_xml.h"

namespace barracuda::report {

// `*` stands for any text; the pattern may match anywhere unless anchored with ^ and $.
bool matches(std::string_view pattern, std::string_view text);

class Suppressions {
 public:
  // Errors name the line (and `file`, which is only for that). The comment right above a rule is
  // its reason.
  static Expected<Suppressions> parse(std::string_view text, const std::string& file);

  // The number of the first rule that leaves it out.
  [[nodiscard]] std::optional<std::size_t> rule_for(const Finding& finding) const;
  // As they are written, with no uses yet.
  [[nodiscard]] std::vector<SuppressionUse> rules() const;

 private:
  enum class Field : std::uint8_t {
    kKernel,
    kFunction,
    kFile,
    kKind,
    kModule,
    kFingerprint,
    kRace,     // ThreadSanitizer's: function, file or module of a race
    kRaceTop,  // the same of the innermost frames alone
    kSeverity,
    kLibrary,    // both accesses are of CUDA's headers, in a frame that matches
    kOperation,  // what either access does
    kMissing,    // the missing order, as the text report has it
  };

  struct Condition {
    Field field = Field::kKernel;
    std::string pattern;
  };

  struct Rule {
    std::string text;
    std::vector<Condition> conditions;
    std::optional<SanitizerRecord> record;  // in their place
    std::string reason;
  };

  static Expected<Rule> rule_of(SanitizerRecord record);
  static Expected<Rule> parse_rule(std::string_view line);
  static Expected<Condition> take_condition(std::string_view& rest);
  static bool holds(const Condition& condition, const Finding& finding);
  static bool leaves_out(const Rule& rule, const Finding& finding);

  std::vector<Rule> rules_;
};

// Takes out what `severity=` and the user's suppressions leave out, and counts the latter.
void filter(Report& report, bool errors_only, const Suppressions& suppressions);

// Takes out what the library's suppressions leave out. Those that did are printed with their
// reasons, and are not among the `suppressed`. That a race was counted `race_limit` times is then
// no gap of the coverage, unless one of the user's may have been.
void filter_libraries(Report& report, const Suppressions& suppressions, std::uint64_t race_limit);

// A file that leaves out just the bugs of the report, each under what it is.
std::string suppressions_for(const Report& report);

}  // namespace barracuda::report

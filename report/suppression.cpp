#include "report/suppression.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/text_lines.h"
#include "report/bug.h"
#include "report/coverage.h"
#include "report/race_report.h"
#include "report/sentences.h"
#include "report/symbol_name.h"
#include "report/toolkit_path.h"

namespace barracuda::report {
namespace {

constexpr std::string_view kBlanks = " \t\r";

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) {
    return {};
  }
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

// Iterative glob: on a mismatch, the last star takes one character more.
bool glob(std::string_view pattern, std::string_view text) {
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;
  std::size_t star_text = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_text = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++star_text;
    } else {
      return false;
    }
  }
  return pattern.substr(p).find_first_not_of('*') == std::string_view::npos;
}

// With and without what the function returns: "^vendor::scan<" is to match "void vendor::scan<…".
bool name_matches(const std::string& pattern, const std::string& name) {
  return !name.empty() && (matches(pattern, name) || matches(pattern, without_return_type(name)));
}

bool frame_matches(const std::string& pattern, const Frame& frame, bool by_file) {
  return by_file ? !frame.file.empty() && matches(pattern, frame.file)
                 : name_matches(pattern, frame.function);
}

bool place_matches(const std::string& pattern, const Access& access, bool by_file) {
  const auto matches_frame = [&](const Frame& frame) {
    return frame_matches(pattern, frame, by_file);
  };
  return matches_frame(access.place) || std::ranges::any_of(access.inlined, matches_frame) ||
         std::ranges::any_of(access.callers, matches_frame);
}

bool top_matches(const std::string& pattern, const Access& access) {
  const Frame& top = access.inlined.empty() ? access.place : access.inlined.front();
  return frame_matches(pattern, top, false) || frame_matches(pattern, top, true);
}

// An access that a library makes for the program: from its innermost frame outwards one matches
// before the program's first. A frame without a file belongs where its function's name says.
bool library_matches(const std::string& pattern, const Access& access) {
  for (const std::vector<Frame>* const frames : {&access.inlined, &access.callers}) {
    for (const Frame& frame : *frames) {
      if (!frame.file.empty() && !is_toolkit_header(frame.file)) {
        return false;
      }
      if (frame_matches(pattern, frame, false) || frame_matches(pattern, frame, true)) {
        return true;
      }
    }
  }
  return access.inlined.empty() && access.place.file.empty() &&
         frame_matches(pattern, access.place, false);
}

bool module_matches(const std::string& pattern, const Finding& finding) {
  const auto any = [&](const auto& list, auto&& module) {
    return std::ranges::any_of(list, [&](const auto& each) {
      const std::string& name = module(each);
      return !name.empty() && matches(pattern, name);
    });
  };
  return any(finding.processes, [](const Process& process) { return process.program; }) ||
         any(finding.accesses, [](const Access& access) { return access.module; });
}

// ---- compute-sanitizer's records

struct SanitizerKind {
  std::string_view name;
  FindingType type;
};

// racecheck's two forms of report and synccheck; what the other tools find is none of ours.
constexpr std::array<SanitizerKind, 3> kSanitizerKinds = {{
    {.name = "Analysis", .type = FindingType::kRace},
    {.name = "Hazard", .type = FindingType::kRace},
    {.name = "Synccheck", .type = FindingType::kBarrierDivergence},
}};

const SanitizerKind* find_kind(std::string_view name) {
  const auto* const found = std::ranges::find(kSanitizerKinds, name, &SanitizerKind::name);
  return found == kSanitizerKinds.end() ? nullptr : found;
}

// The path is the compiler's, ours may be shorter, and one that a user wrote may be, too.
bool is_file(const std::string& pattern, const std::string& file) {
  return glob(pattern, file) || glob("*/" + pattern, file) ||
         (!file.empty() && pattern.ends_with("/" + file));
}

bool is_at(const SanitizerPlace& place, const Access& access) {
  const auto is_frame = [&](const Frame& frame) {
    return (place.function.empty() || glob(place.function, last_name(frame.function))) &&
           (place.file.empty() || is_file(place.file, frame.file));
  };
  return (place.module.empty() || is_file(place.module, access.module)) &&
         (is_frame(access.place) || std::ranges::any_of(access.inlined, is_frame) ||
          std::ranges::any_of(access.callers, is_frame));
}

// racecheck sees shared memory only: what it was told to leave out says nothing of other memory.
bool record_matches(const SanitizerRecord& record, const Finding& finding) {
  const SanitizerKind* const kind = find_kind(record.kind);
  if (kind == nullptr || finding.type != kind->type ||
      (finding.type == FindingType::kRace && finding.space != "shared")) {
    return false;
  }
  const auto is_anywhere = [&](const SanitizerPlace& place) {
    return std::ranges::any_of(finding.accesses,
                               [&](const Access& access) { return is_at(place, access); });
  };
  if (!std::ranges::all_of(record.stack, is_anywhere)) {
    return false;
  }
  if (record.places.size() != 2 || finding.accesses.size() != 2) {
    return std::ranges::all_of(record.places, is_anywhere);
  }
  const auto are = [&](std::size_t first, std::size_t second) {
    return is_at(record.places[first], finding.accesses[0]) &&
           is_at(record.places[second], finding.accesses[1]);
  };
  return are(0, 1) || are(1, 0);
}

// Takes out of the report what the rules leave out, and tells how much each does.
std::vector<SuppressionUse> taken_out(Report& report, const Suppressions& suppressions) {
  std::vector<SuppressionUse> uses = suppressions.rules();
  std::set<std::pair<std::size_t, std::string>> counted;  // a bug with all its variants once
  std::erase_if(report.findings, [&](const Finding& finding) {
    const auto rule = suppressions.rule_for(finding);
    if (rule &&
        (counted.emplace(*rule, finding.fingerprint).second || finding.fingerprint.empty())) {
      ++uses[*rule].count;
    }
    return rule.has_value();
  });
  return uses;
}

}  // namespace

bool matches(std::string_view pattern, std::string_view text) {
  std::string anchored;
  if (pattern.starts_with('^')) {
    pattern.remove_prefix(1);
  } else {
    anchored += '*';
  }
  const bool to_end = pattern.ends_with('$');
  anchored += to_end ? pattern.substr(0, pattern.size() - 1) : pattern;
  if (!to_end) {
    anchored += '*';
  }
  return glob(anchored, text);
}

Expected<Suppressions::Condition> Suppressions::take_condition(std::string_view& rest) {
  constexpr std::array<std::pair<std::string_view, Field>, 10> kFields = {{
      {"kernel", Field::kKernel},
      {"function", Field::kFunction},
      {"file", Field::kFile},
      {"kind", Field::kKind},
      {"module", Field::kModule},
      {"fingerprint", Field::kFingerprint},
      {"severity", Field::kSeverity},
      {"library", Field::kLibrary},
      {"operation", Field::kOperation},
      {"missing", Field::kMissing},
  }};
  const std::size_t colon = rest.find(':');
  const std::string_view name = rest.substr(0, colon);
  const auto* const field =
      std::ranges::find(kFields, name, &std::pair<std::string_view, Field>::first);
  if (colon == std::string_view::npos || field == kFields.end()) {
    return unexpected({.message = "expected kernel:, function:, file:, kind:, module:, severity:, "
                                  "library:, operation:, missing: or fingerprint: and a pattern, "
                                  "with '…' around one that "
                                  "holds a space, or ThreadSanitizer's race:, instead of '" +
                                  std::string(rest) + "'"});
  }
  rest.remove_prefix(colon + 1);
  Condition condition{.field = field->second, .pattern = ""};
  if (rest.starts_with('\'')) {
    const std::size_t close = rest.find('\'', 1);
    if (close == std::string_view::npos) {
      return unexpected({.message = "a quote (') is not closed"});
    }
    condition.pattern = rest.substr(1, close - 1);
    rest.remove_prefix(close + 1);
  } else {
    const std::size_t end = std::min(rest.find_first_of(kBlanks), rest.size());
    condition.pattern = rest.substr(0, end);
    rest.remove_prefix(end);
  }
  if (condition.pattern.empty()) {
    return unexpected({.message = "the pattern of " + std::string(name) + ": is empty"});
  }
  rest = trimmed(rest);
  return condition;
}

Expected<Suppressions::Rule> Suppressions::parse_rule(std::string_view line) {
  Rule rule{.text = std::string(line), .conditions = {}, .record = std::nullopt, .reason = {}};
  // A line of ThreadSanitizer's is one pattern to its end, blanks and all.
  for (const auto& [name, field] : {std::pair<std::string_view, Field>{"race:", Field::kRace},
                                    {"race_top:", Field::kRaceTop}}) {
    if (line.starts_with(name) && line.size() > name.size()) {
      rule.conditions = {{.field = field, .pattern = std::string(line.substr(name.size()))}};
      return rule;
    }
  }
  while (!line.empty()) {
    TRY(Condition condition, take_condition(line));
    rule.conditions.push_back(std::move(condition));
  }
  return rule;
}

Expected<Suppressions::Rule> Suppressions::rule_of(SanitizerRecord record) {
  Rule rule{
      .text = "<record> " + record.kind, .conditions = {}, .record = std::nullopt, .reason = {}};
  for (const SanitizerPlace& place : record.places) {
    rule.text += " " + (place.function.empty() ? place.file : place.function);
  }
  if (find_kind(record.kind) != nullptr && record.places.empty()) {
    return unexpected({.message = "a <record> of a race or a barrier has no <where> that names a "
                                  "function, file or module of the device"});
  }
  rule.record = std::move(record);
  return rule;
}

Expected<Suppressions> Suppressions::parse(std::string_view text, const std::string& file) {
  Suppressions suppressions;
  if (is_sanitizer_xml(text)) {
    const auto records = read_sanitizer_xml(text);
    if (!records) {
      return unexpected({.message = records.error().message, .file = file});
    }
    for (const SanitizerRecord& record : *records) {
      auto rule = rule_of(record);
      if (!rule) {
        return unexpected({.message = std::move(rule).error().message, .file = file});
      }
      suppressions.rules_.push_back(std::move(*rule));
    }
    return suppressions;
  }
  std::string comment;
  TextLines lines(text);
  while (const auto next = lines.next()) {
    const std::string_view line = trimmed(*next);
    if (line.starts_with('#')) {
      comment += (comment.empty() ? "" : " ") + std::string(trimmed(line.substr(1)));
      continue;
    }
    if (line.empty()) {
      comment.clear();
      continue;
    }
    auto rule = parse_rule(line);
    if (!rule) {
      return unexpected(
          {.message = std::move(rule).error().message, .file = file, .line = lines.number()});
    }
    rule->reason = comment;
    suppressions.rules_.push_back(std::move(*rule));
  }
  return suppressions;
}

bool Suppressions::holds(const Condition& condition, const Finding& finding) {
  const auto any_access = [&finding](auto&& claim) {
    return std::ranges::any_of(finding.accesses, claim);
  };
  switch (condition.field) {
    case Field::kKind:
      return matches(condition.pattern,
                     finding.type == FindingType::kRace ? finding.kind : name_of(finding.type));
    case Field::kKernel:
      return any_access(
          [&](const Access& access) { return name_matches(condition.pattern, access.kernel); });
    case Field::kFunction:
      return any_access(
          [&](const Access& access) { return place_matches(condition.pattern, access, false); });
    case Field::kFile:
      return any_access(
          [&](const Access& access) { return place_matches(condition.pattern, access, true); });
    case Field::kModule:
      return module_matches(condition.pattern, finding);
    case Field::kFingerprint:
      return matches(condition.pattern, finding.fingerprint);
    case Field::kSeverity:
      return matches(condition.pattern, name_of(finding.severity));
    case Field::kLibrary:
      return !finding.accesses.empty() &&
             std::ranges::all_of(finding.accesses, [&](const Access& access) {
               return library_matches(condition.pattern, access);
             });
    case Field::kOperation:
      return any_access([&](const Access& access) {
        return matches(condition.pattern, name_of(access.operation));
      });
    case Field::kMissing:
      return !finding.missing.empty() && matches(condition.pattern, finding.missing);
    case Field::kRace:
      return finding.type == FindingType::kRace &&
             (module_matches(condition.pattern, finding) || any_access([&](const Access& access) {
                return place_matches(condition.pattern, access, false) ||
                       place_matches(condition.pattern, access, true);
              }));
    case Field::kRaceTop:
      return finding.type == FindingType::kRace && any_access([&](const Access& access) {
               return top_matches(condition.pattern, access);
             });
  }
  return false;
}

bool Suppressions::leaves_out(const Rule& rule, const Finding& finding) {
  return rule.record ? record_matches(*rule.record, finding)
                     : std::ranges::all_of(rule.conditions, [&finding](const Condition& condition) {
                         return holds(condition, finding);
                       });
}

std::optional<std::size_t> Suppressions::rule_for(const Finding& finding) const {
  const auto rule = std::ranges::find_if(
      rules_, [&finding](const Rule& candidate) { return leaves_out(candidate, finding); });
  return rule == rules_.end() ? std::nullopt
                              : std::optional(static_cast<std::size_t>(rule - rules_.begin()));
}

std::vector<SuppressionUse> Suppressions::rules() const {
  std::vector<SuppressionUse> uses;
  uses.reserve(rules_.size());
  for (const Rule& rule : rules_) {
    uses.push_back({.rule = rule.text, .reason = rule.reason});
  }
  return uses;
}

void filter(Report& report, bool errors_only, const Suppressions& suppressions) {
  if (errors_only) {
    std::erase_if(report.findings, [](const Finding& finding) {
      return finding.severity == FindingSeverity::kWarning;
    });
  }
  report.suppressions = taken_out(report, suppressions);
  for (SuppressionUse& use : report.suppressions) {
    use.reason.clear();  // whoever wrote it knows
    report.suppressed += use.count;
  }
}

void filter_libraries(Report& report, const Suppressions& suppressions, std::uint64_t race_limit) {
  bool takes_out = false;
  for (SuppressionUse& use : taken_out(report, suppressions)) {
    if (use.count != 0) {
      takes_out = true;
      report.suppressions.push_back(std::move(use));
    }
  }
  // What is known and harmless may come as often as it likes: of the user's own nothing is missing.
  const bool may_be_of_user =
      report.suppressed != 0 || std::ranges::any_of(report.findings, [&](const Finding& finding) {
        return finding.type == FindingType::kRace && finding.count >= race_limit;
      });
  if (takes_out && !may_be_of_user) {
    std::erase(report.coverage.gaps, frequent_races_gap(race_limit));
  }
}

std::string suppressions_for(const Report& report) {
  std::string text;
  for (const Bug& bug : bugs_of(report.findings)) {
    const Finding& shown = bug.shown();
    text += "# " + name_of(shown.type) + (shown.kind.empty() ? "" : ", " + shown.kind) + ": ";
    std::string places;
    for (const Access& access : shown.accesses) {
      places += (places.empty() ? "" : " and ") + access.place.function;
      if (access.place.line != 0) {
        places += " at " + access.place.file + ":" + std::to_string(access.place.line);
      }
    }
    text += places + "\nfingerprint:" + shown.fingerprint + "\n";
  }
  return text;
}

}  // namespace barracuda::report

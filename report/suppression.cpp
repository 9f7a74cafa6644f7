#include "report/suppression.h"

#include <algorithm>
#include <array>
#include <utility>

#include "report/race_report.h"

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

bool frame_matches(const std::string& pattern, const Frame& frame, bool by_file) {
  const std::string& text = by_file ? frame.file : frame.function;
  return !text.empty() && matches(pattern, text);
}

bool place_matches(const std::string& pattern, const Access& access, bool by_file) {
  const auto matches_frame = [&](const Frame& frame) {
    return frame_matches(pattern, frame, by_file);
  };
  return matches_frame(access.place) || std::ranges::any_of(access.inlined, matches_frame) ||
         std::ranges::any_of(access.callers, matches_frame);
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
  constexpr std::array<std::pair<std::string_view, Field>, 4> kFields = {{
      {"kernel", Field::kKernel},
      {"function", Field::kFunction},
      {"file", Field::kFile},
      {"kind", Field::kKind},
  }};
  const std::size_t colon = rest.find(':');
  const std::string_view name = rest.substr(0, colon);
  const auto* const field =
      std::ranges::find(kFields, name, &std::pair<std::string_view, Field>::first);
  if (colon == std::string_view::npos || field == kFields.end()) {
    return unexpected({.message = "expected kernel:, function:, file: or kind: and a pattern, with "
                                  "'…' around one that holds a space, instead of '" +
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
  Rule rule;
  while (!line.empty()) {
    TRY(Condition condition, take_condition(line));
    rule.push_back(std::move(condition));
  }
  return rule;
}

Expected<Suppressions> Suppressions::parse(std::string_view text, const std::string& file) {
  Suppressions suppressions;
  for (std::uint32_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.starts_with('#')) {
      continue;
    }
    auto rule = parse_rule(line);
    if (!rule) {
      return unexpected({.message = std::move(rule).error().message, .file = file, .line = number});
    }
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
          [&](const Access& access) { return matches(condition.pattern, access.kernel); });
    case Field::kFunction:
      return any_access(
          [&](const Access& access) { return place_matches(condition.pattern, access, false); });
    case Field::kFile:
      return any_access(
          [&](const Access& access) { return place_matches(condition.pattern, access, true); });
  }
  return false;
}

bool Suppressions::suppress(const Finding& finding) const {
  return std::ranges::any_of(rules_, [&finding](const Rule& rule) {
    return std::ranges::all_of(
        rule, [&finding](const Condition& condition) { return holds(condition, finding); });
  });
}

void filter(Report& report, bool errors_only, const Suppressions& suppressions) {
  if (errors_only) {
    std::erase_if(report.findings, [](const Finding& finding) {
      return finding.severity == FindingSeverity::kWarning;
    });
  }
  report.suppressed += std::erase_if(
      report.findings, [&](const Finding& finding) { return suppressions.suppress(finding); });
}

}  // namespace barracuda::report

#include "report/annotations.h"

#include <cstddef>
#include <string_view>

#include <fmt/format.h>

#include "base/percent_code.h"
#include "report/coverage.h"
#include "report/path_prefix.h"
#include "report/sentences.h"

namespace barracuda::report {
namespace {

// What would end the command, and in a property what would end that.
std::string escaped(std::string_view text, std::string_view special) {
  return percent_encoded(text, [special](unsigned char byte) {
    return special.find(static_cast<char>(byte)) != std::string_view::npos;
  });
}

}  // namespace

std::string gcc_lines(const Bug& bug, std::string_view prefix) {
  const Finding& finding = bug.shown();
  const std::string what =
      fmt::format("{} ({})", title_of(finding), counted(bug.count(), "occurrence"));
  std::string text;
  std::string first = "?";
  for (std::size_t i = 0; i < finding.accesses.size(); ++i) {
    const Access& access = finding.accesses[i];
    const std::string happened = what_happened(finding, access);
    if (i == 0) {
      first = place_of(access);
      text += fmt::format("{}: {}: {}: {} [{}]\n", first, name_of(finding.severity), what, happened,
                          name_of(finding.type));
    } else {
      text += fmt::format("{}: note: {}\n", place_of(access), happened);
    }
  }
  if (finding.accesses.empty()) {
    text += fmt::format("{}: {}: {} [{}]\n", first, name_of(finding.severity), what,
                        name_of(finding.type));
  }
  if (lacks_order(finding)) {
    text += fmt::format("{}: note: missing order: {}\n", first, finding.missing);
  }
  return without_prefix(text, prefix);
}

std::string github_line(const Bug& bug, std::string_view prefix) {
  constexpr std::string_view kInText = "%\r\n";
  constexpr std::string_view kInProperty = "%\r\n:,";
  const Finding& finding = bug.shown();
  const Frame place = finding.accesses.empty() ? Frame{} : finding.accesses.front().place;
  const std::string where =
      place.line == 0
          ? ""
          : fmt::format("file={},line={},",
                        escaped(without_prefix(place.file, prefix), kInProperty), place.line);
  return fmt::format("::{} {}title={}::{}\n", name_of(finding.severity), where,
                     escaped(title_of(finding), kInProperty),
                     escaped(without_prefix(description_of(finding), prefix), kInText));
}

}  // namespace barracuda::report

#include "report/junit.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "report/bug.h"
#include "report/coverage.h"
#include "report/json_parts.h"
#include "report/sentences.h"
#include "report/text_writer.h"

namespace barracuda::report {
namespace {

using Buffer = std::back_insert_iterator<std::string>;

// Sources may be in another encoding, and a parser of XML refuses the whole file for one such byte.
std::string as_utf8(std::string_view text) {
  const std::string written = Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
  return Json::parse(written).get<std::string>();
}

// XML 1.0 has no form at all for most control characters.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : as_utf8(text)) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += static_cast<unsigned char>(c) >= ' ' || c == '\n' || c == '\t' ? c : '?';
    }
  }
  return result;
}

// The same in every run, so that a server can tell an old failure from a new one: whichever of the
// two accesses came first.
std::string name_of_test(const Finding& finding) {
  std::vector<std::string> places(finding.accesses.size());
  std::ranges::transform(finding.accesses, places.begin(),
                         [](const Access& access) { return place_of(access); });
  std::ranges::sort(places);
  return fmt::format("{}{}{}", title_of(finding), places.empty() ? "" : ": ",
                     fmt::join(places, " and "));
}

// A warning fails as an error does: severity=error leaves warnings out before.
void print_bug(std::string& text, const std::string& program, const Bug& bug,
               const Report& report) {
  const Finding& finding = bug.shown();
  fmt::format_to(Buffer(text),
                 "  <testcase classname=\"{}\" name=\"{}\">\n"
                 "   <failure type=\"{}\" message=\"{}\">{}</failure>\n"
                 "  </testcase>\n",
                 escaped(program), escaped(name_of_test(finding)), name_of(finding.type),
                 escaped(finding.missing), escaped(text_block(bug, report, {})));
}

}  // namespace

std::string junit_report(const Report& report) {
  const std::vector<Bug> bugs = bugs_of(report.findings);
  const std::string program =
      report.processes.empty() ? "program" : report.processes.front().program;
  const bool has_failed = !failures_of(report).empty();
  const std::string why_incomplete =
      escaped(fmt::format("{}\n", fmt::join(gaps_and_failures(report), "\n")));
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuites>\n"
      " <testsuite name=\"barracuda: {}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" "
      "skipped=\"{}\">\n",
      escaped(program), bugs.size() + 1, bugs.size(), has_failed ? 1 : 0,
      has_failed || report.covers_everything() ? 0 : 1);
  for (const Bug& bug : bugs) {
    print_bug(text, program, bug, report);
  }
  fmt::format_to(Buffer(text), R"(  <testcase classname="{}" name="coverage">)", escaped(program));
  if (has_failed) {
    fmt::format_to(Buffer(text), "<error>{}</error>", why_incomplete);
  } else if (!report.covers_everything()) {
    fmt::format_to(Buffer(text), "<skipped message=\"coverage incomplete\">{}</skipped>",
                   why_incomplete);
  }
  return text +
         fmt::format("</testcase>\n  <system-out>{}</system-out>\n </testsuite>\n</testsuites>\n",
                     escaped(summary_line(report)));
}

}  // namespace barracuda::report

#include <sstream>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "report/fix_json.h"
#include "report/fix_text.h"
#include "tests/unit/report/samples.h"
#include "tests/unit/report/schema.h"

namespace barracuda::report {
namespace {

Finding race_at(std::uint32_t first, std::uint32_t second) {
  Finding race;
  race.fingerprint = "f" + std::to_string(first);
  race.missing = "a fence is missing";
  for (const std::uint32_t line : {first, second}) {
    Access access;
    access.place = {.function = "k()", .file = "a.cu", .line = line};
    race.accesses.push_back(access);
  }
  return race;
}

FixReport some_report() {
  FixReport report;
  report.program = samples::racy_report();
  report.edits = {{.place = {.function = "k()", .file = "a.cu", .line = 12},
                   .inlined = {{.function = "k()", .file = "a.cu", .line = 12}},
                   .statement = "k#3",
                   .where = "before",
                   .before = "",
                   .after = "fence.acq_rel.gpu",
                   .cuda = "__threadfence()",
                   .reason = "a fence before the flag or lock is written",
                   .is_guess = false,
                   .no_diff = "",
                   .cost = 2}};
  report.repaired = {{.race = race_at(11, 18), .no_proof = "it was not tried"}};
  report.open = {{.race = race_at(30, 31), .why = "it needs atomics, not a fence"}};
  report.schedules = 8;
  report.failures_before = 3;
  report.directed_before = report.directed_after = 16;
  report.standing = "simulation";
  report.diff = "--- a.cu\n+++ a.cu\n@@ -12 +12,2 @@\n+  __threadfence();\n   flag = 1;\n";
  report.runs = 40;
  return report;
}

}  // namespace

TEST_CASE("a repair is told with its edits, what they cured and what stands behind them") {
  const std::string text = fix_text_report(some_report(), {});
  CHECK(text.find("BARRACUDA: FIX: 1 of 2 races gone with 1 edit\n") != std::string::npos);
  CHECK(text.find("  Edit 1: before a.cu:12: __threadfence()\n"
                  "    PTX: fence.acq_rel.gpu; a fence before the flag or lock is written\n") !=
        std::string::npos);
  CHECK(text.find("  Gone: race of a.cu:11 and a.cu:18\n    it was: a fence is missing\n") !=
        std::string::npos);
  CHECK(text.find("directed runs fail 3 of 16 times before, 0 of 16 after") != std::string::npos);
  CHECK(text.find("+  __threadfence();") != std::string::npos);
  CHECK(text.find("not repaired: race of a.cu:30 and a.cu:31: it needs atomics, not a fence") !=
        std::string::npos);
  CHECK(
      fix_summary_line(some_report())
          .starts_with("BARRACUDA SUMMARY: 2 races, 1 repaired by 1 edit (simulation), kernels "));
}

TEST_CASE("a guess, and an edit that the source does not take, are said to be so") {
  FixReport report = some_report();
  report.edits.front().is_guess = true;
  report.edits.front().no_diff = "the source file cannot be read";
  report.is_incomplete = true;
  const std::string text = fix_text_report(report, {});
  CHECK(text.find("could only guess") != std::string::npos);
  CHECK(text.find("not in the diff: the source file cannot be read") != std::string::npos);
  CHECK(text.ends_with(", INCOMPLETE\n"));
}

TEST_CASE("a prefix is left out of names, but not out of the diff") {
  FixReport report = some_report();
  report.edits.front().place.file = "/home/u/a.cu";
  report.repaired.front().race.accesses.front().place.file = "/home/u/a.cu";
  report.open.front().race.accesses.front().place.file = "/home/u/a.cu";
  report.diff = "--- /home/u/a.cu\n+++ /home/u/a.cu\n@@ -12 +12,2 @@\n+  __threadfence();\n";
  const std::string text = fix_text_report(report, {.prefix = "/home/u/"});
  CHECK(text.find("  Edit 1: before a.cu:12: ") != std::string::npos);
  CHECK(text.find("  Gone: race of a.cu:11 and a.cu:18\n") != std::string::npos);
  CHECK(text.find("not repaired: race of a.cu:30 and ") != std::string::npos);
  CHECK(text.find("\n--- /home/u/a.cu\n") != std::string::npos);
}

TEST_CASE("nothing to fix is one line") {
  FixReport report;
  report.program = samples::racy_report();
  report.program.findings.clear();
  report.schedules = 8;
  report.runs = 8;
  CHECK(fix_text_report(report, {})
            .starts_with("BARRACUDA SUMMARY: no race in 8 schedules, nothing to fix, kernels "));
  report.runs = 0;
  CHECK(fix_summary_line(report) == "BARRACUDA SUMMARY: no run could be made\n");
}

TEST_CASE("the JSON report of a repair fits the schema") {
  const ParsedJson root =
      ParsedJson::parse(*read_file(BARRACUDA_SOURCE_DIR "/docs/report.schema.json"));
  const FixReport report = some_report();
  std::istringstream lines(fix_json_report(report));
  std::string line;
  std::size_t fixes = 0;
  while (std::getline(lines, line)) {
    const ParsedJson json = ParsedJson::parse(line);
    INFO(line);
    CHECK(schema_fault(json, root, root) == "");
    if (json["type"] == "fix") {
      ++fixes;
      CHECK(json["races_before"] == 2);
      CHECK(json["races_after"] == 1);
      CHECK(json["edits"][0]["place"]["where"] == "before");
      CHECK(json["standing"] == "simulation");
    }
  }
  CHECK(fixes == 1);
}

}  // namespace barracuda::report

#include <sstream>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "report/weak_json.h"
#include "report/weak_text.h"
#include "tests/unit/report/samples.h"
#include "tests/unit/report/schema.h"

namespace barracuda::report {
namespace {

Access store() {
  Access access;
  access.operation = AccessOperation::kWrite;
  access.size = 4;
  access.address = 0x7f0010;
  access.has_address = true;
  access.place = {.function = "dot(int*)", .file = "dot.cu", .line = 31};
  access.kernel = "dot(int*)";
  access.launch = 1;
  access.has_thread = true;
  access.block = {3, 0, 0};
  return access;
}

Access read_by_other() {
  Access access = store();
  access.operation = AccessOperation::kRead;
  access.block = {5, 0, 0};
  return access;
}

WeakReport failing_report() {
  WeakReport report;
  report.program = samples::racy_report();
  report.references = 5;
  report.weak_runs = 3;
  report.runs = 60;
  const MissingFence fence{.place = store().place,
                           .inlined = {store().place},
                           .statement = "_Z3dotPi#14",
                           .kernel = "dot(int*)",
                           .kind = "acq_rel",
                           .scope = "gpu",
                           .cuda = "__threadfence()",
                           .runs = 20};
  const WeakCause cause{.space = "global",
                        .kernel = "dot(int*)",
                        .mechanism = "delayed-store",
                        .legal_by = "a rule",
                        .weak = {store()},
                        .readers = {read_by_other()},
                        .visible = "212 turns of the schedule later, at a release",
                        .decisions = 1,
                        .fences = {fence},
                        .no_fences = "",
                        .candidates = 12};
  report.failures.push_back({.failure = "output",
                             .description = "wrong output",
                             .environment = "race 1 of 1",
                             .runs = 20,
                             .failures = 19,
                             .causes = {cause},
                             .plan = "dot.weakness",
                             .again = "barracuda run --weakness dot.weakness -- ./dot"});
  report.starvations.push_back({.accesses = {store(), read_by_other()}, .turns = 65536});
  report.races.push_back({.race = report.program.findings.front(),
                          .effect = "harmful",
                          .description = "harmful: wrong output",
                          .tries = 2});
  return report;
}

std::vector<ParsedJson> lines_of(const WeakReport& report) {
  std::vector<ParsedJson> lines;
  std::istringstream text(weak_json_report(report));
  for (std::string line; std::getline(text, line);) {
    lines.push_back(ParsedJson::parse(line));
  }
  return lines;
}

std::vector<std::string> types_of(const std::vector<ParsedJson>& lines) {
  std::vector<std::string> types;
  for (const ParsedJson& line : lines) {
    types.push_back(line["type"]);
  }
  return types;
}

}  // namespace

TEST_CASE("each line of the report of expose is as the schema says") {
  const ParsedJson root =
      ParsedJson::parse(*read_file(BARRACUDA_SOURCE_DIR "/docs/report.schema.json"));
  WeakReport reference_failure;
  reference_failure.program = samples::clean_report();
  reference_failure.references = reference_failure.reference_failures = 5;
  reference_failure.reference_failure = "status";
  WeakReport unexplained = failing_report();
  unexplained.failures.front().causes.clear();
  for (const WeakReport& report : {failing_report(), reference_failure, unexplained}) {
    for (const ParsedJson& line : lines_of(report)) {
      INFO(line.dump());
      CHECK(schema_fault(line, root, root).empty());
    }
  }
}

TEST_CASE("the failure comes first, then its fence, and the summary last") {
  const std::vector<ParsedJson> lines = lines_of(failing_report());
  CHECK(types_of(lines) == std::vector<std::string>{"weak-memory-failure", "missing-fence",
                                                    "starvation", "race", "race-effect",
                                                    "summary"});
  CHECK(lines[0]["accesses"]["weak"][0]["line"] == 31);
  CHECK(lines[0]["plan"] == "dot.weakness");
  CHECK(lines[4]["fingerprint"] == lines[3]["fingerprint"]);
  CHECK(lines[5]["weak_memory"]["missing_fences"] == 1);
}

TEST_CASE("the text of expose leaves the prefix out of names, but not out of what is typed again") {
  WeakReport report = failing_report();
  WeakFailure& failure = report.failures.front();
  failure.causes.front().weak.front().place.file = "/home/u/dot.cu";
  failure.causes.front().fences.front().place.file = "/home/u/dot.cu";
  failure.again = "barracuda run --weakness /home/u/dot.weakness -- ./dot";
  report.starvations.front().accesses.front().place.file = "/home/u/dot.cu";
  const std::string text = weak_text_report(report, {.prefix = "/home/u/"});
  CHECK(text.find("\n    #0 dot(int*) at dot.cu:31\n") != std::string::npos);
  CHECK(text.find(" behind dot.cu:31, ") != std::string::npos);
  CHECK(text.find("/home/u/dot.cu") == std::string::npos);
  CHECK(text.find("--weakness /home/u/dot.weakness ") != std::string::npos);
}

TEST_CASE("the text of a failure has who, where, what is missing and how to see it again") {
  const std::string text = weak_text_report(failing_report(), {});
  const std::string expected = R"(==================
BARRACUDA: ERROR: weak-memory failure: wrong output in 19 of 20 runs (0 of 5 without delays)
  Delayed: store of 4 bytes at 0x7f0010 by thread [0,0,0] of block [3,0,0]
    #0 dot(int*) at dot.cu:31
  Visible: 212 turns of the schedule later, at a release
  Read: the old value by thread [0,0,0] of block [5,0,0]
    #0 dot(int*) at dot.cu:31
  Missing: a fence (acq_rel, scope gpu) behind dot.cu:31, e.g. __threadfence()
  Data: global; kernel dot(int*); 1 decision; 11 of 12 candidate fences left out
  Legal: a rule
  Found by: race 1 of 1
  Again: barracuda run --weakness dot.weakness -- ./dot
  See: docs/FINDINGS.md#weak-memory-failure
==================
)";
  CHECK(text.starts_with(expected));
  CHECK(text.find("BARRACUDA: WARNING: starvation: ") != std::string::npos);
  CHECK(text.find("\n  See: docs/FINDINGS.md#starvation\n====") != std::string::npos);
  CHECK(text.find("add.cu:14: harmful: wrong output (2 directed runs)\n") != std::string::npos);
}

TEST_CASE("the summary says what was not done") {
  WeakReport report;
  CHECK(weak_summary_line(report) == "BARRACUDA SUMMARY: no run could be made");
  report.references = 5;
  CHECK(weak_summary_line(report) == "BARRACUDA SUMMARY: no kernel was launched");
  report.program = samples::clean_report();
  report.weak_runs = 7;
  report.lost = 2;
  report.is_incomplete = true;
  CHECK(weak_summary_line(report) ==
        "BARRACUDA SUMMARY: no failure in 7 runs, kernels 1/1 covered, 2 runs lost, incomplete");
}

}  // namespace barracuda::report

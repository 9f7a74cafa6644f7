#include "report/hardening_report.h"

#include <sstream>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "tests/unit/report/samples.h"
#include "tests/unit/report/schema.h"

namespace barracuda::report {
namespace {

using Catch::Matchers::Contains;

MissingFence fence(std::uint32_t line) {
  const Frame place{.function = "dot(int*)", .file = "dot.cu", .line = line};
  return {.place = place,
          .inlined = {place},
          .statement = "_Z3dotPi#14",
          .kernel = "dot(int*)",
          .kind = "acq_rel",
          .scope = "gpu",
          .cuda = "__threadfence()",
          .runs = 500};
}

HardeningReport reduced_report() {
  HardeningReport report;
  report.program = samples::racy_report();
  report.missing = {fence(31)};
  report.needed = {fence(40)};
  report.redundant = {fence(50)};
  report.places = 28;
  report.references = 5;
  report.failure = "wrong output";
  report.weak_runs_as_it_is = 32;
  report.failures_as_it_is = 7;
  report.stable_runs = 500;
  report.runs = 800;
  return report;
}

}  // namespace

TEST_CASE("harden says what is missing, what is needed and what is not") {
  const std::string text = hardening_text(reduced_report(), {});
  CHECK_THAT(text,
             Contains("ERROR: missing fence: __threadfence() behind dot.cu:31 (acq_rel, scope "
                      "gpu)\n  Kernel: dot(int*)\n  Without it: wrong output\n"
                      "  See: docs/FINDINGS.md#missing-fence\n===="));
  CHECK_THAT(text, Contains("\n  See: docs/FINDINGS.md#redundant-fence\n===="));
  CHECK_THAT(text,
             Contains("WARNING: redundant fence: no run needed __threadfence() at dot.cu:50"));
  CHECK_THAT(text, Contains("BARRACUDA: __threadfence() at dot.cu:40 is needed\n"));
  CHECK_THAT(text, Contains("fails in 7 of 32 weak runs"));
  CHECK_THAT(text, Contains("empirically fixed, not formally fixed"));
  CHECK_THAT(text, Contains("BARRACUDA SUMMARY: 1 missing fence, 1 needed, 1 redundant; 28 places "
                            "tried, no failure in 500 runs\n"));
}

TEST_CASE("harden leaves the prefix out of the names of sources") {
  HardeningReport report = reduced_report();
  report.missing.front().place.file = report.needed.front().place.file = "/home/u/dot.cu";
  report.fences_file = "/home/u/dot.fences";
  const std::string text = hardening_text(report, {.prefix = "/home/u/"});
  CHECK_THAT(text, Contains(" behind dot.cu:31 ") && Contains(" at dot.cu:40 is needed"));
  CHECK_THAT(text, Contains("--fences /home/u/dot.fences "));
}

TEST_CASE("harden without a result claims none") {
  HardeningReport report = reduced_report();
  report.missing.clear();
  report.no_result = "fences do not cure this: a hang with one behind every access too";
  const std::string text = hardening_text(report, {.colour = true});
  CHECK_THAT(text, !Contains("empirically"));
  CHECK_THAT(text, Contains("SUMMARY: fences do not cure this: a hang"));
  HardeningReport over = reduced_report();
  over.is_incomplete = true;
  CHECK_THAT(hardening_summary(over), Contains("not shown stable, incomplete"));
  CHECK(hardening_summary({}) == "BARRACUDA SUMMARY: no run could be made");
}

TEST_CASE("harden's JSON is that of the schema") {
  const ParsedJson schema =
      ParsedJson::parse(*read_file(BARRACUDA_SOURCE_DIR "/docs/report.schema.json"));
  std::istringstream lines(hardening_json(reduced_report()));
  std::vector<std::string> types;
  for (std::string line; std::getline(lines, line);) {
    const ParsedJson object = ParsedJson::parse(line);
    CHECK(schema_fault(object, schema, schema) == "");
    types.push_back(object["type"]);
  }
  CHECK(types == std::vector<std::string>{"missing-fence", "redundant-fence", "summary"});
}

TEST_CASE("harden says what fences cost on a GPU, and why energy is not known") {
  HardeningReport report = reduced_report();
  report.environments = {"delayed stores, p = 1"};
  report.tables = {"| environment | failures |"};
  report.costs = {{.fences = "none", .nanoseconds = 10'000, .millijoules = 2000, .no_energy = ""},
                  {.fences = "all", .nanoseconds = 15'000, .millijoules = 2500, .no_energy = ""},
                  {.fences = "reduced", .nanoseconds = 10'100, .no_energy = "too short"}};
  const std::string text = hardening_text(report, {});
  CHECK_THAT(text, Contains("| environment | failures |\n"));
  CHECK_THAT(text,
             Contains("with fences: none: kernels take 10.0 us (+0.0 %), 2.000 J (+0.0 %)\n"));
  CHECK_THAT(text,
             Contains("with fences: all: kernels take 15.0 us (+50.0 %), 2.500 J (+25.0 %)\n"));
  CHECK_THAT(text,
             Contains("reduced: kernels take 10.1 us (+1.0 %), energy not measured: too short\n"));
  const ParsedJson schema =
      ParsedJson::parse(*read_file(BARRACUDA_SOURCE_DIR "/docs/report.schema.json"));
  std::istringstream lines(hardening_json(report));
  ParsedJson last;
  for (std::string line; std::getline(lines, line);) {
    last = ParsedJson::parse(line);
    CHECK(schema_fault(last, schema, schema) == "");
  }
  const ParsedJson& costs = last["weak_memory"]["costs"];
  CHECK(costs[1]["time_percent"] == 50.0);
  CHECK(costs[1]["energy_percent"] == 25.0);
  CHECK(costs[2]["energy_percent"].is_null());
  CHECK(last["weak_memory"]["environments"][0] == "delayed stores, p = 1");
}

}  // namespace barracuda::report

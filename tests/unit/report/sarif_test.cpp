#include "report/sarif.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "tests/unit/report/samples.h"
#include "tests/unit/report/schema.h"

namespace barracuda::report {
namespace {

ParsedJson run_of(const Report& report) {
  const ParsedJson log = ParsedJson::parse(sarif_report(report, "/src"));
  const ParsedJson schema =
      ParsedJson::parse(*read_file(BARRACUDA_SOURCE_DIR "/tests/unit/report/sarif.schema.json"));
  CHECK(schema_fault(log, schema["$defs"]["log"], schema) == "");
  REQUIRE(log["runs"].size() == 1);
  return log["runs"][0];
}

TEST_CASE("a race is a result with two places, a fingerprint and a flow for each thread") {
  Report report = samples::racy_report();
  Access& access = report.findings[0].accesses[0];
  access.place.file = "/src/kernels/a b\xc3\xa4.cu";
  access.source = "sums[i] += x;";
  access.syncs = {{.instruction = "bar.sync",
                   .place = {.function = "add(int*)", .file = "/usr/include/sync.h", .line = 7}},
                  {.when = detector::SyncWhen::kAfter,
                   .instruction = "fence.acq_rel.gpu",
                   .place = {.function = "add(int*)", .file = "/src/add.cu", .line = 16}}};
  const ParsedJson run = run_of(report);
  CHECK(run["originalUriBaseIds"]["SRCROOT"]["uri"] == "file:///src/");
  REQUIRE(run["results"].size() == 1);
  const ParsedJson& result = run["results"][0];
  CHECK(result["ruleId"] == "race");
  CHECK(run["tool"]["driver"]["rules"][result["ruleIndex"].get<std::size_t>()]["id"] == "race");
  CHECK(result["level"] == "error");
  CHECK(result["occurrenceCount"] == 12);
  CHECK(result["partialFingerprints"] ==
        ParsedJson{{"barracuda/v1", "0123456789abcdef0123456789abcdef"}});
  REQUIRE(result["locations"].size() == 1);
  const ParsedJson& place = result["locations"][0]["physicalLocation"];
  CHECK(place["artifactLocation"] ==
        ParsedJson{{"uri", "kernels/a%20b%C3%A4.cu"}, {"uriBaseId", "SRCROOT"}});
  CHECK(place["region"]["startLine"] == 12);
  CHECK(place["region"]["snippet"]["text"] == "sums[i] += x;");
  REQUIRE(result["relatedLocations"].size() == 1);
  CHECK(result["relatedLocations"][0]["id"] == 1);
  CHECK(result["relatedLocations"][0]["physicalLocation"]["region"]["startLine"] == 14);
  const ParsedJson& flows = result["codeFlows"][0]["threadFlows"];
  REQUIRE(flows.size() == 2);
  REQUIRE(flows[0]["locations"].size() == 3);
  CHECK(flows[0]["locations"][0]["location"]["message"]["text"] ==
        "synchronisation before the access: bar.sync");
  CHECK(flows[0]["locations"][1]["importance"] == "essential");
  CHECK(flows[0]["locations"][2]["location"]["message"]["text"] ==
        "synchronisation after the access: fence.acq_rel.gpu");
  CHECK(flows[0]["locations"][0]["location"]["physicalLocation"]["artifactLocation"]["uri"] ==
        "file:///usr/include/sync.h");
  CHECK(flows[1]["locations"].size() == 1);
}

TEST_CASE("every rule is there in a clean run, and what was not covered is a notification") {
  Report report = samples::clean_report();
  report.coverage.gaps = {"kernel mul(int*) has no PTX"};
  report.own_status = 3;
  const ParsedJson run = run_of(report);
  CHECK(run["results"].empty());
  CHECK(run["tool"]["driver"]["rules"].size() == 6);
  for (const ParsedJson& rule : run["tool"]["driver"]["rules"]) {
    const std::string uri = rule["helpUri"], id = rule["id"];
    INFO(uri);
    CHECK(uri.starts_with("file:///"));
    CHECK(uri.ends_with("/share/doc/barracuda/docs/FINDINGS.md" + (id == "race" ? "" : "#" + id)));
  }
  const ParsedJson& invocation = run["invocations"][0];
  CHECK(invocation["executionSuccessful"] == true);
  CHECK(invocation["exitCode"] == 3);
  CHECK(invocation["toolExecutionNotifications"][0]["message"]["text"] ==
        "not covered: kernel mul(int*) has no PTX");
  report.coverage.gaps = {};
  report.coverage.libraries["libcublas.so"].not_instrumented = {"gemm()"};
  CHECK(run_of(report)["invocations"][0]["toolExecutionNotifications"].size() == 1);
}

TEST_CASE("a failed tool is no success, a finding without lines has a file all the same") {
  Report report = samples::racy_report();
  report.tool_failure = "the trace could not be written";
  report.findings[0].accesses.clear();
  const ParsedJson run = run_of(report);
  CHECK(run["invocations"][0]["executionSuccessful"] == false);
  const ParsedJson& place = run["results"][0]["locations"][0]["physicalLocation"];
  CHECK(place["artifactLocation"]["uri"] == "app");
  CHECK_FALSE(place.contains("region"));
  CHECK_FALSE(run["results"][0].contains("codeFlows"));
}

TEST_CASE("the message has the function where there is no line, and no order where none is known") {
  Report report = samples::racy_report();
  Finding& race = report.findings[0];
  race.accesses[0].place = {.function = "add(int*)", .file = "", .line = 0};
  const auto message = [&report] {
    return run_of(report)["results"][0]["message"]["text"].get<std::string>();
  };
  CHECK(message() ==
        "inter-block race on global memory\n"
        "Write of 4 bytes at 0x7f0010 by thread [3,0,0] of block [0,0,0] (warp 0, lane 3) at "
        "add(int*)\n"
        "Read of 4 bytes at 0x7f0010 by thread [3,0,0] of block [1,0,0] (warp 0, lane 3) at "
        "add.cu:14\n"
        "Missing order: no synchronisation between block 0 and block 1");
  race.missing = "";
  CHECK_THAT(message(), Catch::EndsWith("add.cu:14"));
  race.accesses.clear();
  CHECK(message() == "inter-block race on global memory");
}

TEST_CASE("every type of finding has its rule") {
  for (const FindingType type :
       {FindingType::kRace, FindingType::kBarrierDivergence, FindingType::kMemoryError,
        FindingType::kTimeout, FindingType::kDeadlock}) {
    Report report = samples::racy_report();
    report.findings[0].type = type;
    CHECK(run_of(report)["results"][0]["ruleId"] == name_of(type));
  }
}

}  // namespace
}  // namespace barracuda::report

#include "report/json_writer.h"

#include <sstream>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "report/resolve.h"
#include "tests/unit/report/samples.h"
#include "tests/unit/report/schema.h"

namespace barracuda::report {
namespace {

std::vector<ParsedJson> lines_of(const std::string& text) {
  std::vector<ParsedJson> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(ParsedJson::parse(line));
  }
  return lines;
}

ParsedJson schema() {
  return ParsedJson::parse(*read_file(BARRACUDA_SOURCE_DIR "/docs/report.schema.json"));
}

void check_schema(const std::vector<ParsedJson>& lines) {
  const ParsedJson root = schema();
  for (const ParsedJson& line : lines) {
    INFO(line.dump());
    CHECK(schema_fault(line, root, root).empty());
  }
}

TEST_CASE("a race is written with the fields of schema 1") {
  const std::vector<ParsedJson> lines = lines_of(json_report(samples::racy_report(), 1));
  REQUIRE(lines.size() == 2);
  const ParsedJson expected = ParsedJson::parse(R"json({
    "schema": 1, "type": "race", "severity": "error", "kind": "inter-block", "space": "global",
    "model": "ptx", "count": 12, "missing": "no synchronisation between block 0 and block 1",
    "accesses": [
      {"op": "write", "size": 4, "address": 8323088, "function": "add(int*)", "file": "add.cu",
       "line": 12, "inlined": [{"function": "add(int*)", "file": "add.cu", "line": 12}],
       "kernel": "add(int*)", "launch": 1, "stream": 0, "thread": [3, 0, 0], "block": [0, 0, 0],
       "warp": 0, "lane": 3, "last_sync": null
}

                            ,
      {"op": "read", "size": 4, "address": 8323088, "function": "add(int*)", "file": "add.cu",
       "line": 14, "inlined": [{"function": "add(int*)", "file": "add.cu", "line": 14}],
       "kernel": "add(int*)", "launch": 1, "stream": 0, "thread": [3, 0, 0], "block": [1, 0, 0],
       "warp": 0, "lane": 3, "last_sync": null}]
                            })json");
  CHECK(lines[0] == expected);
  CHECK(lines[1] == ParsedJson::parse(R"({"schema": 1, "type": "summary", "races": 1,
    "kernels": {"launched": 1, "instrumented": 1}, "coverage": "complete", "not_covered": []})"));
}

TEST_CASE("a race is written with the fields of schema 2") {
  const std::vector<ParsedJson> lines = lines_of(json_report(samples::racy_report()));
  REQUIRE(lines.size() == 2);
  const ParsedJson expected = ParsedJson::parse(R"json({
    "schema": 2, "type": "race", "fingerprint": "0123456789abcdef0123456789abcdef",
    "severity": "error", "kind": "inter-block", "space": "global",
    "model": "ptx", "count": 12, "missing": "no synchronisation between block 0 and block 1",
    "location": "byte 16 of 256 bytes at 0x7f0000 (cudaMalloc)", "other_places": false,
    "program": "app", "pid": 42, "rank": null,
    "processes": [{"program": "app", "pid": 42, "rank": null}],
    "accesses": [
      {"op": "write", "size": 4, "address": 8323088, "function": "add(int*)", "file": "add.cu",
       "line": 12, "inlined": [{"function": "add(int*)", "file": "add.cu", "line": 12}],
       "kernel": "add(int*)", "launch": 1, "stream": 0, "thread": [3, 0, 0], "block": [0, 0, 0],
       "warp": 0, "lane": 3, "grid": null, "last_sync": null, "syncs": null, "callers": 0, "source": null, "variable": null, "note": null,
       "instruction": null, "ptx_line": null, "launched_from": "main() at add.cu:30"},
      {"op": "read", "size": 4, "address": 8323088, "function": "add(int*)", "file": "add.cu",
       "line": 14, "inlined": [{"function": "add(int*)", "file": "add.cu", "line": 14}],
       "kernel": "add(int*)", "launch": 1, "stream": 0, "thread": [3, 0, 0], "block": [1, 0, 0],
       "warp": 0, "lane": 3, "grid": null, "last_sync": null, "syncs": null, "callers": 0, "source": null, "variable": null, "note": null,
       "instruction": null, "ptx_line": null, "launched_from": "main() at add.cu:30"}],
    "variants": []})json");
  CHECK(lines[0] == expected);
  CHECK(lines[1] == ParsedJson::parse(R"json({"schema": 2, "type": "summary", "model": "ptx",
    "device": null, "races": 1, "known": 0, "suppressed": 0, "suppressions": [], "launches": 3,
    "kernels": {"launched": 1, "instrumented": 1, "names": ["add(int*)"], "not_instrumented": [],
      "program": {"launched": 1, "instrumented": 1}, "libraries": {}},
    "coverage": "complete", "program_coverage": "complete", "not_covered": [], "exit_status": null, "signal": null,
    "processes": [{"program": "app", "pid": 42, "rank": null}]})json"));
}

TEST_CASE("variants of a bug are one line, and in schema 1 a line each") {
  Report report = samples::racy_report();
  report.findings.push_back(samples::race());
  report.findings[1].kind = "intra-warp";
  report.findings[1].processes = {{"app", 43, 5}};
  const std::vector<ParsedJson> lines = lines_of(json_report(report));
  REQUIRE(lines.size() == 2);
  check_schema(lines);
  CHECK(lines[0]["count"] == 24);
  REQUIRE(lines[0]["variants"].size() == 1);
  CHECK(lines[0]["variants"][0]["kind"] == "intra-warp");
  CHECK(lines[0]["variants"][0]["count"] == 12);
  CHECK(lines[0]["variants"][0]["processes"][0]["rank"] == 5);
  CHECK(lines[0]["variants"][0]["accesses"] == lines[0]["accesses"]);
  CHECK(lines[1]["races"] == 1);
  const std::vector<ParsedJson> old = lines_of(json_report(report, 1));
  REQUIRE(old.size() == 3);
  CHECK(old[1]["kind"] == "intra-warp");
  CHECK(old[2]["races"] == 2);
}

TEST_CASE("fields come in the order of the documentation") {
  const std::string text = json_report(samples::racy_report());
  CHECK(text.starts_with(R"({"schema":2,"type":"race","fingerprint":"0123456789abcdef0123456789)"
                         R"(abcdef","severity":"error","kind":"inter-block","space":"global",)"));
}

TEST_CASE("every type of line fits the schema, also where nothing is known") {
  Report report = samples::racy_report();
  Finding divergence;
  divergence.type = FindingType::kBarrierDivergence;
  divergence.accesses = {samples::access(AccessOperation::kUnknown, 20, 0), Access{}};
  Finding error;
  error.type = FindingType::kMemoryError;
  error.missing = "out-of-bounds write of 4 bytes";
  error.accesses = {Access{}};
  report.findings.push_back(divergence);
  report.findings.push_back(error);
  Finding ended;
  ended.accesses = {Access{}, Access{}};
  for (const FindingType type : {FindingType::kTimeout, FindingType::kDeadlock}) {
    ended.type = type;
    report.findings.push_back(ended);
  }
  report.coverage.gaps = {"tex.2d in add(int*): textures are not logged"};
  const std::vector<ParsedJson> lines = lines_of(json_report(report));
  REQUIRE(lines.size() == 6);
  check_schema(lines);
  CHECK(lines[3]["type"] == "timeout");
  CHECK(lines[4]["type"] == "deadlock");
  CHECK(lines[2]["accesses"][0]["line"].is_null());
  CHECK(lines[2]["accesses"][0]["thread"].is_null());
  CHECK(lines[2]["accesses"][0]["op"].is_null());
  CHECK(lines[2]["missing"] == "out-of-bounds write of 4 bytes");
  CHECK(lines[5]["coverage"] == "incomplete");
  CHECK(lines[5]["not_covered"][0] == "tex.2d in add(int*): textures are not logged");
}

TEST_CASE("a resolved run fits the schema") {
  check_schema(lines_of(json_report(resolve(samples::racy_run(), Options{}))));
}

TEST_CASE("the schema refuses what is not schema 2") {
  const ParsedJson root = schema();
  const ParsedJson good = lines_of(json_report(samples::racy_report())).front();
  ParsedJson bad = good;
  bad["accesses"][0]["line"] = "12";
  CHECK_FALSE(schema_fault(bad, root, root).empty());
  bad = good;
  bad.erase("missing");
  CHECK_FALSE(schema_fault(bad, root, root).empty());
  bad = good;
  bad["kind"] = "inter-planetary";
  CHECK_FALSE(schema_fault(bad, root, root).empty());
  bad = good;
  bad["accesses"].push_back(bad["accesses"][0]);
  CHECK_FALSE(schema_fault(bad, root, root).empty());
}

TEST_CASE("a name that is not UTF-8 does not spoil the report") {
  Report report = samples::racy_report();
  report.findings[0].accesses[0].place.file = "caf\xe9.cu";
  CHECK(lines_of(json_report(report)).size() == 2);
}

TEST_CASE("what blocked the check is listed as not covered") {
  Report report;
  report.blocked = {"static cudart without a driver"};
  report.tool_failure = "no memory for queues";
  const ParsedJson summary = lines_of(json_report(report)).back();
  CHECK(summary["coverage"] == "incomplete");
  CHECK(summary["not_covered"] ==
        ParsedJson({"static cudart without a driver", "no memory for queues"}));
}

TEST_CASE("a run in which nothing was checked is not complete, and says why") {
  const ParsedJson without_launch = lines_of(json_report(Report{})).back();
  CHECK(without_launch["coverage"] == "incomplete");
  CHECK(without_launch["not_covered"] == ParsedJson({"no kernel was launched"}));
  Report filtered;
  filtered.coverage = {
      .launches = 2, .gaps = {}, .left_out_launches = 2, .left_out_kernels = {"add(int*)"}};
  const ParsedJson summary = lines_of(json_report(filtered)).back();
  check_schema({summary});
  CHECK(summary["coverage"] == "incomplete");
  CHECK(summary["not_covered"][0].get<std::string>().find("no kernel was checked; left out by ") ==
        0);
  CHECK(summary["not_covered"][0].get<std::string>().find("add(int*)") != std::string::npos);
}

}  // namespace
}  // namespace barracuda::report

#include "report/html.h"

#include <fstream>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "report/json_writer.h"
#include "tests/unit/report/samples.h"
#include "tests/unit/report/schema.h"
#include "tests/unit/scratch_folder.h"

namespace barracuda::report {
namespace {

ParsedJson data_of(const std::string& page) {
  const std::string begin = R"(<script id="data" type="application/json">)";
  const std::size_t at = page.find(begin);
  REQUIRE(at != std::string::npos);
  const std::size_t end = page.find("</script>", at);
  return ParsedJson::parse(page.substr(at + begin.size(), end - at - begin.size()));
}

TEST_CASE("the page has the findings and the lines around them") {
  const ScratchFolder folder;
  const std::string file = folder / "add.cu";
  std::ofstream(file) << "1\n2\n3\n4\n  five();\n6\n7\n8\n9\n10\n";
  Report report = samples::racy_report();
  report.findings[0].accesses[0].place.file = file;
  report.findings[0].accesses[0].place.line = 5;
  report.findings[0].accesses[1].place = {.function = "add(int*)", .file = "", .line = 0};
  const ParsedJson data = data_of(html_report(report));
  REQUIRE(data["bugs"].size() == 1);
  CHECK(data["bugs"][0]["accesses"][0]["what"].get<std::string>().starts_with("Write of 4 bytes"));
  CHECK_FALSE(data["bugs"][0].contains("rank"));
  CHECK(data["sources"].size() == 1);
  CHECK(data["sources"][file]["5"] == "  five();");
  CHECK(data["sources"][file].size() == 9);
  CHECK(data["coverage"]["complete"] == true);
  CHECK(data["summary"].get<std::string>().starts_with("BARRACUDA SUMMARY: 1 race"));
}

TEST_CASE("the page has each synchronisation once, and its line") {
  const ScratchFolder folder;
  const std::string file = folder / "add.cu";
  std::ofstream(file) << "1\n  __syncthreads();\n";
  Report report = samples::racy_report();
  const Sync barrier{.instruction = "bar.sync", .place = {"add(int*)", file, 2}};
  Sync later = barrier;
  later.when = detector::SyncWhen::kAfter;
  report.findings[0].accesses[0].syncs = {barrier, later};
  report.findings[0].accesses[1].syncs = {barrier};
  report.findings[0].accesses[1].has_all_syncs = true;
  const ParsedJson data = data_of(html_report(report));
  REQUIRE(data["syncs"].size() == 1);
  CHECK(data["syncs"][0]["instruction"] == "bar.sync");
  CHECK(data["sources"][file]["2"] == "  __syncthreads();");
  const ParsedJson& accesses = data["bugs"][0]["accesses"];
  CHECK(accesses[0]["syncs"] ==
        ParsedJson::parse(R"({"complete": false, "steps": [["before", 0], ["after", 0]]})"));
  CHECK(accesses[1]["syncs"] ==
        ParsedJson::parse(R"({"complete": true, "steps": [["before", 0]]})"));
}

TEST_CASE("kernels of libraries that were not checked are among the gaps") {
  Report report = samples::clean_report();
  report.coverage.libraries["libcublas.so"].not_instrumented = {"gemm()"};
  const ParsedJson coverage = data_of(html_report(report))["coverage"];
  CHECK(coverage["complete"] == false);
  CHECK(coverage["gaps"] ==
        ParsedJson::array({"kernels of libraries that are not instrumented: libcublas.so 1"}));
}

TEST_CASE("no text of the program ends the script, or is markup") {
  Report report = samples::racy_report();
  report.findings[0].missing = "</script><script>alert(1)</script>";
  report.processes[0].program = "<!--";
  const std::string page = html_report(report);
  CHECK(page.find("alert(1)</script>") == std::string::npos);
  CHECK(data_of(page)["bugs"][0]["missing"] == "</script><script>alert(1)</script>");
}

TEST_CASE("what expose and fix have found beside races is there, the races are the report's") {
  const Report report = samples::racy_report();
  const std::string lines = json_report(report) +
                            R"({"type":"fix","edits":[],"diff":"--- a\n+++ a\n","standing":null})"
                            "\n"
                            R"({"type":"weak-memory-failure","failure":"output"})"
                            "\n";
  const ParsedJson data = data_of(html_report(report, lines));
  CHECK(data["bugs"].size() == 1);
  REQUIRE(data["more"].size() == 2);
  CHECK(data["more"][0] ==
        ParsedJson::parse(R"({"type":"fix","edits":[],"diff":"--- a\n+++ a\n"})"));
  CHECK(data["more"][1]["failure"] == "output");
}

TEST_CASE("450 findings are less than a megabyte") {
  Report report = samples::racy_report();
  for (int i = 1; i < 450; ++i) {
    Finding finding = samples::race();
    finding.fingerprint = std::to_string(i);
    for (Access& access : finding.accesses) {
      access.place.line += static_cast<std::uint32_t>(2 * i);
      access.inlined = {access.place, access.place};
      for (std::uint32_t step = 0; step < 8; ++step) {
        access.syncs.push_back(
            {.when = step < 4 ? detector::SyncWhen::kBefore : detector::SyncWhen::kAfter,
             .instruction = "bar.sync",
             .place = access.place});
        access.syncs.back().place.line += step / 4;
      }
      access.source = "sums[threadIdx.x + blockIdx.x * blockDim.x] += values[threadIdx.x];";
    }
    report.findings.push_back(std::move(finding));
  }
  const std::string page = html_report(report);
  CHECK(data_of(page)["bugs"].size() == 450);
  CHECK(page.size() < 1'000'000);
}

}  // namespace
}  // namespace barracuda::report

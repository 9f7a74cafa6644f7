#include "report/json_reader.h"

#include <catch2/catch.hpp>

#include "report/json_writer.h"
#include "report/merge.h"
#include "report/text_writer.h"
#include "tests/unit/report/samples.h"

namespace barracuda::report {
namespace {

Report report_of_rank(std::int64_t rank) {
  Report report = samples::racy_report();
  report.processes = {{"solver", 100 + rank, rank}};
  report.device = "emulated device";
  report.findings[0].processes = report.processes;
  report.findings[0].accesses[1].callers = {{"caller()", "a.cu", 7}};
  report.findings[0].has_other_places = true;
  report.findings[0].accesses[0].grid = {4, 2, 1};
  report.findings[0].accesses[0].last_sync = "unknown";
  report.findings[0].accesses[1].last_sync = "bar.sync";
  report.findings[0].accesses[1].last_sync_place = {"caller()", "a.cu", 6};
  report.findings[0].accesses[1].last_sync_source = "__syncthreads();";
  report.findings[0].accesses[1].syncs = {
      {.instruction = "bar.sync", .place = {"caller()", "a.cu", 6}},
      {.when = detector::SyncWhen::kUnclear, .instruction = "fence.acq_rel.gpu", .place = {}},
      {.when = detector::SyncWhen::kAfter, .instruction = "bar.sync", .place = {"", "a.cu", 9}}};
  report.findings[0].accesses[1].has_all_syncs = true;
  report.findings.push_back(report.findings[0]);
  report.findings[1].kind = "intra-warp";
  report.findings[1].accesses[0].block = {1, 0, 0};
  report.findings.push_back(samples::race());
  report.findings[2].fingerprint = "of rank " + std::to_string(rank);
  report.findings[2].processes = report.processes;
  report.coverage.not_instrumented = {"blur()"};
  report.coverage.gaps = {"kernel blur(): no PTX (3 launches)"};
  report.coverage.libraries["libtorch_cuda.so"] = {.instrumented = {"fill()"},
                                                   .not_instrumented = {"gemm()", "sort()"}};
  report.suppressions = {{"kernel:old", 0}};
  return report;
}

TEST_CASE("a report that was written is the same when it is read") {
  const Report report = report_of_rank(3);
  const auto read = read_json_report(json_report(report), "a.json");
  REQUIRE(read.has_value());
  CHECK(*read == report);
}

TEST_CASE("that a location is one of several is a field, and in older reports the location's end") {
  Report report = samples::racy_report();
  std::string old = json_report(report);
  const std::string_view field = R"("other_places":false,)";
  old.erase(old.find(field), field.size());
  CHECK(*read_json_report(old, "a.json") == report);
  report.findings[0].has_other_places = true;
  CHECK_THAT(json_report(report), Catch::Contains(R"x((cudaMalloc)","other_places":true,)x"));
  const std::string_view allocation = "(cudaMalloc)";
  old.insert(old.find(allocation) + allocation.size(), ", among other places");
  CHECK(*read_json_report(old, "a.json") == report);
}

TEST_CASE("a report from before the synchronisations were listed has the last one") {
  Report report = samples::racy_report();
  report.findings[0].accesses[0].last_sync = "bar.sync";
  report.findings[0].accesses[0].last_sync_place = {"add(int*)", "add.cu", 9};
  std::string text = json_report(report);
  for (std::size_t at = text.find("\"syncs\":null,"); at != text.npos;
       at = text.find("\"syncs\":null,")) {
    text.erase(at, std::string_view("\"syncs\":null,").size());
  }
  const auto read = read_json_report(text, "a.json");
  REQUIRE(read.has_value());
  const std::vector<Sync>& syncs = read->findings[0].accesses[0].syncs;
  REQUIRE(syncs.size() == 1);
  CHECK(syncs[0].instruction == "bar.sync");
  CHECK(syncs[0].place.line == 9);
  CHECK(read->findings[0].accesses[1].syncs.empty());
}

TEST_CASE("reports merged after they were written are the report of the run as one") {
  std::vector<Report> live;
  std::vector<Report> read;
  for (const std::int64_t rank : {2, 0, 1}) {
    live.push_back(report_of_rank(rank));
    read.push_back(*read_json_report(json_report(live.back()), "a.json"));
  }
  const Report all = merge(live);
  const Report merged = merge(read);
  CHECK(json_report(merged) == json_report(all));
  CHECK(text_report(merged, {}) == text_report(all, {}));
  CHECK(text_report(merged, {}).find("  Seen in: ranks 0-2 of solver\n") != std::string::npos);
}

TEST_CASE("what is not known is skipped, and of one fingerprint the last line stands") {
  Report first = samples::racy_report();
  const std::string line = json_report(first).substr(0, json_report(first).find('\n') + 1);
  first.findings[0].count = 40;
  const std::string text = R"({"schema":2,"type":"progress","launches":7})"
                           "\n\n" +
                           line +
                           R"({"schema":3,"type":"opinion"})"
                           "\n" +
                           json_report(first);
  const auto read = read_json_report(text, "a.json");
  REQUIRE(read.has_value());
  CHECK(read->findings == first.findings);
}

TEST_CASE("a report without its summary, or cut in a line, is incomplete") {
  const std::string text = json_report(samples::racy_report());
  for (const std::size_t length : {text.find('\n') + 1, text.size() - 10}) {
    const auto read = read_json_report(text.substr(0, length), "a.json");
    REQUIRE(read.has_value());
    CHECK(read->findings.size() == 1);
    REQUIRE(read->coverage.gaps.size() == 1);
    CHECK(read->coverage.gaps[0].starts_with("a.json has no summary"));
  }
}

TEST_CASE("what is no report of this schema is an error with its line") {
  for (const std::string& text : {std::string("\nnonsense\n"), std::string("\n[1]\n"),
                                  "\n" + json_report(samples::racy_report(), 1),
                                  std::string("\n{\"schema\":2,\"type\":[]}\n")}) {
    const auto read = read_json_report(text, "a.json");
    REQUIRE_FALSE(read.has_value());
    CHECK(read.error().to_string().starts_with("a.json:2: "));
  }
}

}  // namespace
}  // namespace barracuda::report

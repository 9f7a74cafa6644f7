#include "report/process_status.h"

#include <unistd.h>

#include <catch2/catch.hpp>

#include "base/file.h"
#include "tests/unit/report/samples.h"
#include "tests/unit/report/scratch_folder.h"

namespace barracuda::report {
namespace {

TEST_CASE("a report survives the journey between processes") {
  Report report = samples::racy_report();
  report.findings[0].accesses[0].callers = {{"caller()", "a.cu", 7}};
  report.findings[0].accesses[0].note = "waits";
  report.coverage.gaps = {"a gap"};
  report.suppressed = 4;
  report.device = "emulated device";
  report.blocked = {"blocked"};
  report.lost = {"lost"};
  report.option_error = "bad";
  report.tool_failure = "failed";
  const auto back = parse_report(serialise(report));
  REQUIRE(back.has_value());
  CHECK(*back == report);
}

TEST_CASE("what is not a report of this version is an error") {
  CHECK_FALSE(parse_report("").has_value());
  CHECK_FALSE(parse_report("{}").has_value());
  CHECK_FALSE(parse_report(R"({"version":0,"report":{}})").has_value());
  CHECK_FALSE(parse_report(R"({"version":1,"report":{}})").has_value());
}

TEST_CASE("run reads what its processes leave") {
  const ScratchFolder folder;
  REQUIRE(write_process_report(folder.path(), samples::racy_report()).has_value());
  REQUIRE(write_process_report(folder.path(), samples::clean_report()).has_value());
  const auto processes = read_process_reports(folder.path());
  REQUIRE(processes.has_value());
  REQUIRE(processes->reports.size() == 2);
  CHECK(processes->reports[0] == samples::racy_report());
  CHECK(processes->reports[1] == samples::clean_report());
  CHECK(processes->unreported.empty());
}

TEST_CASE("a process that announced itself is missed until it reports") {
  const ScratchFolder folder;
  REQUIRE(announce_process(folder.path()).has_value());
  auto processes = read_process_reports(folder.path());
  REQUIRE(processes.has_value());
  REQUIRE(processes->unreported.size() == 1);
  CHECK(processes->unreported[0].process == getpid());
  CHECK(processes->unreported[0].program == "barracuda.test.report");
  REQUIRE(write_process_report(folder.path(), samples::clean_report()).has_value());
  processes = read_process_reports(folder.path());
  REQUIRE(processes.has_value());
  CHECK(processes->unreported.empty());
}

TEST_CASE("a report that is still being written is not read") {
  const ScratchFolder folder;
  REQUIRE(write_file(folder / "17.0.json.part", "{").has_value());
  const auto processes = read_process_reports(folder.path());
  REQUIRE(processes.has_value());
  CHECK(processes->reports.empty());
}

TEST_CASE("a damaged report is an error, not a report less") {
  const ScratchFolder folder;
  REQUIRE(write_file(folder / "17.0.json", "{").has_value());
  CHECK_FALSE(read_process_reports(folder.path()).has_value());
}

TEST_CASE("there is a run folder only where the variable names one") {
  const ScratchFolder folder;
  unsetenv(kRunDirectoryVariable);
  CHECK(run_directory().empty());
  setenv(kRunDirectoryVariable, folder.path().c_str(), 1);
  CHECK(run_directory() == folder.path());
  setenv(kRunDirectoryVariable, (folder / "gone").c_str(), 1);
  CHECK(run_directory().empty());
  unsetenv(kRunDirectoryVariable);
}

}  // namespace
}  // namespace barracuda::report

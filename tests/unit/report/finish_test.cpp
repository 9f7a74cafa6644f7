#include "report/finish.h"

#include <catch2/catch.hpp>

#include "report/exit_status.h"
#include "report/spool.h"
#include "tests/unit/report/samples.h"
#include "tests/unit/report/stderr_capture.h"

namespace barracuda::report {
namespace {

Outcome finish(const RunData& run, const Options& options) {
  return Outlet(options).finish(run);
}

TEST_CASE("a process without CUDA stays silent and keeps its status") {
  unsetenv(kRunDirectoryVariable);
  const StderrCapture capture;
  CHECK_FALSE(finish(RunData{}, Options{}).change_status);
  CHECK(capture.text().empty());
}

TEST_CASE("by itself, a process with findings reports and changes its status") {
  unsetenv(kRunDirectoryVariable);
  const StderrCapture capture;
  const Outcome outcome = finish(samples::racy_run(), Options{});
  CHECK(outcome.change_status);
  CHECK(outcome.status == kStatusFindings);
  CHECK(capture.text().ends_with(
      "BARRACUDA SUMMARY: 1 race (12 occurrences), kernels 1/1 instrumented, coverage complete\n"));
}

TEST_CASE("by itself, a clean process says so and keeps its status") {
  unsetenv(kRunDirectoryVariable);
  RunData run = samples::racy_run();
  run.findings = {};
  const StderrCapture capture;
  CHECK_FALSE(finish(run, Options{}).change_status);
  CHECK(capture.text() ==
        "BARRACUDA SUMMARY: 0 races, kernels 1/1 instrumented, coverage complete\n");
}

TEST_CASE("a process that used CUDA without a launch is not passed") {
  unsetenv(kRunDirectoryVariable);
  RunData run;
  run.used_cuda = true;
  const StderrCapture capture;
  CHECK(finish(run, Options{}).status == kStatusNotChecked);
  CHECK(capture.text() ==
        "BARRACUDA SUMMARY: no kernel was launched (what is in the way: barracuda doctor -- "
        "./app)\n");
}

TEST_CASE("a bad option and a failed tool are told with their status") {
  unsetenv(kRunDirectoryVariable);
  RunData run;
  const StderrCapture capture;
  run.option_error = "unknown option 'jsn'; did you mean 'json'?";
  CHECK(finish(run, Options{}).status == kStatusBadOption);
  run = RunData{};
  run.tool_failure = "no memory for queues";
  CHECK(finish(run, Options{}).status == kStatusToolFailed);
  CHECK(capture.text().find("BARRACUDA: unknown option 'jsn'; did you mean 'json'?\n") !=
        std::string::npos);
  CHECK(capture.text().find("BARRACUDA: the tool failed: no memory for queues\n") !=
        std::string::npos);
}

TEST_CASE("under run, a process hands its report over, is silent and keeps its status") {
  const ScratchFolder folder;
  setenv(kRunDirectoryVariable, folder.path().c_str(), 1);
  const StderrCapture capture;
  const Options options;
  Outlet outlet(options);
  outlet.announce();
  const Outcome outcome = outlet.finish(samples::racy_run());
  unsetenv(kRunDirectoryVariable);
  CHECK_FALSE(outcome.change_status);
  CHECK(capture.text().empty());
  const auto processes = read_spools(folder.path());
  REQUIRE(processes.has_value());
  REQUIRE(processes->size() == 1);
  CHECK(processes->front().report.findings.size() == 1);
  CHECK(processes->front().has_ended);
}

TEST_CASE("under run, what is found is with run before the process has ended") {
  const ScratchFolder folder;
  setenv(kRunDirectoryVariable, folder.path().c_str(), 1);
  const Options options;
  Outlet outlet(options);
  CHECK(outlet.update(samples::racy_run()));
  unsetenv(kRunDirectoryVariable);
  const auto processes = read_spools(folder.path());
  REQUIRE(processes.has_value());
  REQUIRE(processes->size() == 1);
  CHECK(processes->front().report.findings.size() == 1);
  CHECK_FALSE(processes->front().has_ended);
}

TEST_CASE("a process that a signal ends keeps its status, and the report says so") {
  unsetenv(kRunDirectoryVariable);
  RunData run = samples::racy_run();
  run.own_status = 128 + 11;
  const StderrCapture capture;
  CHECK(finish(run, Options{}).status == kStatusFindings);
  CHECK(capture.text().find("the program was ended by signal 11 (Segmentation fault)\n") !=
        std::string::npos);
  run.findings = {};
  CHECK_FALSE(finish(run, Options{}).change_status);
}

TEST_CASE("when the run's folder is gone, a process reports by itself") {
  setenv(kRunDirectoryVariable, "/nonexistent/run", 1);
  const StderrCapture capture;
  CHECK(finish(samples::racy_run(), Options{}).status == kStatusFindings);
  unsetenv(kRunDirectoryVariable);
  CHECK(capture.text().find("1 race") != std::string::npos);
}

}  // namespace
}  // namespace barracuda::report

#include "report/exit_status.h"

#include <catch2/catch.hpp>

#include "tests/unit/report/samples.h"

namespace barracuda::report {
namespace {

constexpr int kOwn = 3;

TEST_CASE("a clean, complete run keeps the program's own status") {
  CHECK(exit_status(samples::clean_report(), Options{}, 0) == 0);
  CHECK(exit_status(samples::clean_report(), Options{}, kOwn) == kOwn);
}

TEST_CASE("findings are 66, or what error-exitcode says") {
  Options options;
  CHECK(exit_status(samples::racy_report(), options, 0) == 66);
  CHECK(exit_status(samples::racy_report(), options, kOwn) == 66);
  options.error_exitcode = 9;
  CHECK(exit_status(samples::racy_report(), options, 0) == 9);
  options.error_exitcode = 0;
  CHECK(exit_status(samples::racy_report(), options, kOwn) == kOwn);
}

TEST_CASE("a warning is a finding") {
  Report report = samples::racy_report();
  report.findings[0].severity = FindingSeverity::kWarning;
  CHECK(exit_status(report, Options{}, 0) == 66);
}

TEST_CASE("what was not checked is 67") {
  CHECK(exit_status(Report{}, Options{}, 0) == 67);
  CHECK(exit_status(Report{}, Options{}, kUnknownStatus) == 67);
  Report blocked = samples::clean_report();
  blocked.blocked = {"a kernel without PTX was to run on the emulated device"};
  CHECK(exit_status(blocked, Options{}, 0) == 67);
  CHECK(exit_status(blocked, Options{}, 1) == 67);  // it fails because it cannot run here
  CHECK(exit_status(blocked, Options{}, 134) == 134);
}

TEST_CASE("a program that fails, or that a signal ends, has a status that says more than 67") {
  CHECK(exit_status(Report{}, Options{}, kOwn) == kOwn);
  CHECK(exit_status(Report{}, Options{}, 139) == 139);
  CHECK(exit_status(samples::racy_report(), Options{}, 139) == 66);
}

TEST_CASE("a filter that leaves nothing to be checked is 67, one that leaves something is not") {
  Report report = samples::clean_report();
  Options strict;
  strict.strict = true;
  report.coverage.left_out_launches = 2;
  report.coverage.left_out_kernels = {"sub(int*)"};
  CHECK(exit_status(report, strict, kOwn) == kOwn);
  report.coverage = {.launches = 3, .gaps = {}, .left_out_launches = 3, .left_out_kernels = {}};
  CHECK(exit_status(report, Options{}, 0) == 67);
}

TEST_CASE("kernels of which none could be checked are 67") {
  Report report = samples::clean_report();
  report.coverage.instrumented.clear();
  CHECK(exit_status(report, Options{}, 0) == 67);
}

TEST_CASE("incomplete coverage is 67 only when strict") {
  Report report = samples::clean_report();
  report.coverage.gaps = {"3 records were malformed"};
  Options options;
  CHECK(exit_status(report, options, kOwn) == kOwn);
  options.strict = true;
  CHECK(exit_status(report, options, 0) == 67);
  CHECK(exit_status(report, options, kOwn) == kOwn);
  CHECK(exit_status(samples::clean_report(), options, kOwn) == kOwn);
}

TEST_CASE("what libraries have unchecked is 67 only where strict-libraries asks for theirs") {
  Report report = samples::clean_report();
  report.coverage.libraries["libcublas.so.13"].not_instrumented = {"gemm()"};
  Options options;
  options.strict = true;
  CHECK(exit_status(report, options, 0) == 0);
  options.strict_libraries = true;
  CHECK(exit_status(report, options, 0) == 67);
  options.strict = false;
  CHECK(exit_status(report, options, 0) == 67);
  // Where nothing but theirs ran, nothing was checked.
  report.coverage.instrumented.clear();
  CHECK(exit_status(report, Options{}, 0) == 67);
  report.coverage.libraries["libmine.so"].instrumented = {"mine()"};
  CHECK(exit_status(report, Options{}, 0) == 0);
}

TEST_CASE("a process that was lost is 67, unless the program's own status says more") {
  Report report = samples::clean_report();
  report.lost = {"process 12 (app) used CUDA and ended without a report"};
  CHECK(exit_status(report, Options{}, 0) == 67);
  CHECK(exit_status(report, Options{}, 137) == 137);
  Report nothing_else;
  nothing_else.lost = report.lost;
  CHECK(exit_status(nothing_else, Options{}, 137) == 137);
}

TEST_CASE("a bad option is 64 and a failed tool is 70, whatever else there is") {
  Report report = samples::racy_report();
  report.blocked = {"x"};
  report.tool_failure = "no memory for queues";
  CHECK(exit_status(report, Options{}, 0) == 70);
  report.option_error = "unknown option 'jsn'";
  CHECK(exit_status(report, Options{}, 0) == 64);
}

TEST_CASE("with exit-policy=none the program's own status stands, whatever was found") {
  Options options;
  options.exit_policy = "none";
  CHECK(exit_status(samples::racy_report(), options, 0) == 0);
  CHECK(exit_status(samples::racy_report(), options, kOwn) == kOwn);
  CHECK(exit_status(Report{}, options, 0) == 0);
  Report failed = samples::racy_report();
  failed.tool_failure = "no memory for queues";
  CHECK(exit_status(failed, options, 0) == 0);
  CHECK(exit_status(samples::racy_report(), options, kUnknownStatus) == 66);
  failed.option_error = "unknown option 'jsn'";
  CHECK(exit_status(failed, options, 0) == 64);
}

TEST_CASE("findings go before what was not checked") {
  Report report = samples::racy_report();
  report.blocked = {"x"};
  CHECK(exit_status(report, Options{}, 0) == 66);
}

}  // namespace
}  // namespace barracuda::report

#include "report/baseline.h"

#include <catch2/catch.hpp>

#include "base/file.h"
#include "report/json_writer.h"
#include "tests/unit/report/samples.h"
#include "tests/unit/scratch_folder.h"

namespace barracuda::report {
namespace {

Report two_bugs() {
  Report report = samples::racy_report();
  report.findings.push_back(samples::race());
  report.findings[1].kind = "intra-warp";
  report.findings.push_back(samples::race());
  report.findings[2].fingerprint = "fedcba9876543210fedcba9876543210";
  return report;
}

Options with_baseline(const std::string& file, bool update) {
  Options options;
  options.baseline = file;
  options.update_baseline = update;
  return options;
}

TEST_CASE("what the baseline knows is no finding, with all its variants") {
  const ScratchFolder folder;
  const std::string file = folder / "known.json";
  REQUIRE(write_file(file, json_report(samples::racy_report())).has_value());
  Report report = two_bugs();
  apply_baseline(report, with_baseline(file, false), BaselineUse::kUpdate);
  REQUIRE(report.findings.size() == 1);
  CHECK(report.findings[0].fingerprint == two_bugs().findings[2].fingerprint);
  CHECK(report.known == 1);
  CHECK(report.option_error.empty());
  CHECK(*read_file(file) == json_report(samples::racy_report()));
}

TEST_CASE("update-baseline makes the file, adds to it, and knows what it has added") {
  const ScratchFolder folder;
  const Options options = with_baseline(folder / "known.json", true);
  Report first = samples::racy_report();
  apply_baseline(first, options, BaselineUse::kUpdate);
  CHECK(first.findings.empty());
  CHECK(first.known == 1);
  Report second = two_bugs();
  apply_baseline(second, options, BaselineUse::kRead);
  CHECK(second.findings.size() == 1);
  second = two_bugs();
  apply_baseline(second, options, BaselineUse::kUpdate);
  CHECK(second.findings.empty());
  CHECK(second.known == 2);
  Report third = two_bugs();
  apply_baseline(third, with_baseline(options.baseline, false), BaselineUse::kUpdate);
  CHECK(third.findings.empty());
}

TEST_CASE("a baseline that is not there, or is none, is a bad option") {
  const ScratchFolder folder;
  const std::string file = folder / "known.json";
  Report report = samples::racy_report();
  apply_baseline(report, with_baseline(file, false), BaselineUse::kRead);
  CHECK(report.option_error.find("option baseline: ") == 0);
  REQUIRE(write_file(file, json_report(samples::racy_report(), 1)).has_value());
  report = samples::racy_report();
  apply_baseline(report, with_baseline(file, true), BaselineUse::kUpdate);
  CHECK(report.option_error.find("schema 2") != std::string::npos);
  CHECK(report.findings.size() == 1);
}

TEST_CASE("a baseline that cannot be written is a failure, and the findings stay") {
  const ScratchFolder folder;
  Report report = samples::racy_report();
  apply_baseline(report, with_baseline(folder / "none/known.json", true), BaselineUse::kUpdate);
  CHECK(report.tool_failure.find("the baseline could not be updated: ") == 0);
  CHECK(report.findings.size() == 1);
}

TEST_CASE("without the option nothing happens") {
  Report report = samples::racy_report();
  apply_baseline(report, Options{}, BaselineUse::kUpdate);
  CHECK(report == samples::racy_report());
}

}  // namespace
}  // namespace barracuda::report

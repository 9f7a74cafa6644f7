#include "report/annotations.h"

#include <catch2/catch.hpp>

#include "tests/unit/report/samples.h"

namespace barracuda::report {
namespace {

Bug bug_of(const Report& report) {
  const std::vector<Bug> bugs = bugs_of(report.findings);
  REQUIRE(bugs.size() == 1);
  return bugs.front();
}

TEST_CASE("a race is a compiler's error with notes") {
  CHECK(gcc_lines(bug_of(samples::racy_report()), "") ==
        "add.cu:12: error: inter-block race on global memory (12 occurrences): Write of 4 bytes at "
        "0x7f0010 by thread [3,0,0] of block [0,0,0] (warp 0, lane 3) [race]\n"
        "add.cu:14: note: Read of 4 bytes at 0x7f0010 by thread [3,0,0] of block [1,0,0] (warp 0, "
        "lane 3)\n"
        "add.cu:12: note: missing order: no synchronisation between block 0 and block 1\n");
}

TEST_CASE("without line information the function stands for the place") {
  Report report = samples::racy_report();
  report.findings[0].severity = FindingSeverity::kWarning;
  report.findings[0].accesses[0].place = {.function = "add(int*)", .file = "", .line = 0};
  CHECK_THAT(gcc_lines(bug_of(report), ""),
             Catch::StartsWith("add(int*): warning: inter-block race"));
  CHECK_THAT(github_line(bug_of(report), ""),
             Catch::StartsWith("::warning title=inter-block race"));
}

TEST_CASE("a finding without a place has its line, too") {
  Report report = samples::racy_report();
  report.findings[0].type = FindingType::kTimeout;
  report.findings[0].missing = "kernel add(int*) did not end";
  report.findings[0].accesses.clear();
  CHECK(gcc_lines(bug_of(report), "") ==
        "?: error: timeout: kernel add(int*) did not end (12 occurrences) [timeout]\n");
}

TEST_CASE("an annotation is one line whatever stands in it") {
  Report report = samples::racy_report();
  report.findings[0].accesses[0].place.file = "a,b:100%.cu";
  const std::string line = github_line(bug_of(report), "");
  CHECK_THAT(line,
             Catch::StartsWith("::error file=a%2Cb%3A100%25.cu,line=12,title=inter-block race "
                               "on global memory::Write of 4 bytes"));
  CHECK(line.find('\n') == line.size() - 1);
  CHECK(line.find("%0AMissing order: ") != std::string::npos);
}

TEST_CASE("file names are shown without the prefix") {
  Report report = samples::racy_report();
  for (Access& access : report.findings[0].accesses) {
    access.place.file = "/home/u/a,b/add.cu";
  }
  const Bug bug = bug_of(report);
  const std::string lines = gcc_lines(bug, "/home/u/a,b/");
  CHECK_THAT(lines, Catch::StartsWith("add.cu:12: error: "));
  CHECK(lines.find("\nadd.cu:14: note: ") != std::string::npos);
  const std::string line = github_line(bug, "/home/u/a,b/");
  CHECK_THAT(line, Catch::StartsWith("::error file=add.cu,line=12,"));
  CHECK(line.find(" at add.cu:14%0A") != std::string::npos);
  CHECK_THAT(github_line(bug, "/home/u/"), Catch::StartsWith("::error file=a%2Cb/add.cu,line=12,"));
  CHECK_THAT(gcc_lines(bug, "/u/"), Catch::StartsWith("/home/u/a,b/add.cu:12: error: "));
}

}  // namespace
}  // namespace barracuda::report

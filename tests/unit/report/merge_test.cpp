#include "report/merge.h"

#include <catch2/catch.hpp>

#include "tests/unit/report/samples.h"

namespace barracuda::report {
namespace {

TEST_CASE("nothing merged is an empty report") {
  CHECK(merge({}) == Report{});
}

TEST_CASE("one report stays as it is") {
  CHECK(merge({samples::racy_report()}) == samples::racy_report());
}

TEST_CASE("the same race of two processes is one, and its occurrences add up") {
  Report other = samples::racy_report();
  other.findings[0].count = 3;
  other.findings[0].accesses[0].thread = {9, 0, 0};
  const Report all = merge({samples::racy_report(), other});
  REQUIRE(all.findings.size() == 1);
  CHECK(all.findings[0].count == 15);
  CHECK(all.coverage.launches == 6);
  CHECK(all.coverage.kernels == 2);
}

TEST_CASE("different lines, kinds and severities stay apart") {
  Report line = samples::racy_report();
  line.findings[0].accesses[1].place.line = 99;
  Report kind = samples::racy_report();
  kind.findings[0].kind = "inter-kernel";
  Report severity = samples::racy_report();
  severity.findings[0].severity = FindingSeverity::kWarning;
  CHECK(merge({samples::racy_report(), line, kind, severity}).findings.size() == 4);
}

TEST_CASE("findings of one process are never merged with each other") {
  Report report = samples::racy_report();
  report.findings.push_back(report.findings[0]);
  CHECK(merge({report}).findings.size() == 2);
}

TEST_CASE("gaps and obstacles are told once, failures are kept") {
  Report left = samples::clean_report();
  left.coverage.gaps = {"a gap"};
  left.blocked = {"blocked"};
  Report right = left;
  right.coverage.gaps.emplace_back("another");
  right.tool_failure = "out of memory";
  const Report all = merge({left, right});
  CHECK(all.coverage.gaps == std::vector<std::string>{"a gap", "another"});
  CHECK(all.blocked == std::vector<std::string>{"blocked"});
  CHECK(all.tool_failure == "out of memory");
  CHECK_FALSE(all.covers_everything());
}

}  // namespace
}  // namespace barracuda::report

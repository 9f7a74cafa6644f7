#include "report/suppression.h"

#include <catch2/catch.hpp>

#include "tests/unit/report/samples.h"

namespace barracuda::report {
namespace {

bool suppresses(const std::string& text, const Finding& finding = samples::race()) {
  const auto suppressions = Suppressions::parse(text, "s.txt");
  REQUIRE(suppressions.has_value());
  return suppressions->suppress(finding);
}

TEST_CASE("a pattern matches anywhere unless it is anchored") {
  CHECK(matches("add", "my_add_kernel"));
  CHECK(matches("a*k", "my_add_kernel"));
  CHECK_FALSE(matches("^add", "my_add"));
  CHECK(matches("^my*add$", "my_other_add"));
  CHECK_FALSE(matches("^my$", "my_add"));
  CHECK(matches("", "anything"));
  CHECK(matches("a*b*c", "xaxbxbxc"));
  CHECK_FALSE(matches("a*b*c", "acb"));
}

TEST_CASE("a field looks at what it names") {
  CHECK(suppresses("kernel:add"));
  CHECK(suppresses("function:^add"));
  CHECK(suppresses("file:^add.cu$"));
  CHECK(suppresses("kind:inter-block"));
  CHECK_FALSE(suppresses("kernel:sub"));
  CHECK_FALSE(suppresses("kind:intra"));
  CHECK_FALSE(suppresses(""));
}

TEST_CASE("the words of a line must all hold, one line suffices") {
  CHECK(suppresses("kernel:add kind:inter-block"));
  CHECK_FALSE(suppresses("kernel:add kind:intra-warp"));
  CHECK(suppresses("# a note\n\nkernel:sub\n  kind:inter-block  \r\n"));
}

TEST_CASE("every frame of the chain counts for function and file") {
  Finding finding = samples::race();
  finding.accesses[0].inlined.push_back({"detail::helper(int)", "vendor/helper.cuh", 3});
  CHECK(suppresses("file:vendor/", finding));
  CHECK(suppresses("function:helper", finding));
}

TEST_CASE("a pattern with a blank is quoted") {
  Finding finding = samples::race();
  finding.accesses[0].kernel = "void scan<int, 4>(int*)";
  CHECK(suppresses("kernel:'^void scan<int, 4>' kind:inter", finding));
}

TEST_CASE("a finding that is no race has its type as kind") {
  Finding finding = samples::race();
  finding.type = FindingType::kMemoryError;
  finding.kind.clear();
  CHECK(suppresses("kind:memory-error", finding));
}

TEST_CASE("a line that cannot be understood is an error with its number") {
  for (const char* const text :
       {"\nrace:add", "\nkernel", "\nkernel:", "\nkernel:'add", "\nkernel:void scan<int>()"}) {
    INFO(text);
    const auto suppressions = Suppressions::parse(text, "s.txt");
    REQUIRE_FALSE(suppressions.has_value());
    CHECK(suppressions.error().to_string().starts_with("s.txt:2: "));
  }
}

TEST_CASE("the filter drops what severity leaves out and counts what is suppressed") {
  Report report = samples::racy_report();
  report.findings.push_back(samples::race());
  report.findings.push_back(samples::race());
  report.findings[1].severity = FindingSeverity::kWarning;
  report.findings[2].kind = "intra-warp";
  Report errors = report;
  filter(errors, true, {});
  CHECK(errors.findings.size() == 2);
  CHECK(errors.suppressed == 0);
  filter(report, false, *Suppressions::parse("kind:intra-warp", ""));
  CHECK(report.findings.size() == 2);
  CHECK(report.suppressed == 1);
}

}  // namespace
}  // namespace barracuda::report

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
  CHECK(all.coverage.kernels() == 1);
}

TEST_CASE("a race that one process met at several places is met there") {
  Report other = samples::racy_report();
  other.findings[0].has_other_places = true;
  CHECK(merge({samples::racy_report(), other}).findings[0].has_other_places);
  CHECK(merge({other, samples::racy_report()}).findings[0].has_other_places);
}

TEST_CASE("a race is the same whichever of its accesses came first") {
  Report other = samples::racy_report();
  std::swap(other.findings[0].accesses[0], other.findings[0].accesses[1]);
  CHECK(merge({samples::racy_report(), other}).findings.size() == 1);
}

TEST_CASE("different bugs, kinds and severities stay apart") {
  Report line = samples::racy_report();
  line.findings[0].fingerprint = "another";
  Report kind = samples::racy_report();
  kind.findings[0].kind = "inter-kernel";
  Report severity = samples::racy_report();
  severity.findings[0].severity = FindingSeverity::kWarning;
  CHECK(merge({samples::racy_report(), line, kind, severity}).findings.size() == 4);
}

TEST_CASE("the order in which processes end changes nothing") {
  Report second = samples::racy_report();
  second.processes = second.findings[0].processes = {{"app", 50, 1}};
  second.findings[0].accesses[0].address = 8;
  std::swap(second.findings[0].accesses[0], second.findings[0].accesses[1]);
  Report first = samples::racy_report();
  first.processes = first.findings[0].processes = {{"app", 51, 0}};
  const Report all = merge({second, first});
  CHECK(all == merge({first, second}));
  REQUIRE(all.findings.size() == 1);
  CHECK(all.findings[0].accesses == first.findings[0].accesses);
  CHECK(all.findings[0].processes == std::vector<Process>{{"app", 51, 0}, {"app", 50, 1}});
}

TEST_CASE("a kernel that one process could not check is not checked") {
  Report other = samples::clean_report();
  other.coverage.instrumented.clear();
  other.coverage.not_instrumented = {"add(int*)"};
  const Report all = merge({samples::clean_report(), other});
  CHECK(all.coverage.kernels() == 1);
  CHECK(all.coverage.instrumented.empty());
}

TEST_CASE("kernels of libraries that were left out are told once") {
  Report left = samples::clean_report();
  left.coverage.left_out_libraries = {{"libcublas.so.13", {"gemm", "fill"}}};
  Report right = samples::clean_report();
  right.coverage.left_out_libraries = {{"libcublas.so.13", {"gemm"}}, {"libnccl.so.2", {"sum"}}};
  CHECK(merge({left, right}).coverage.left_out_libraries ==
        std::map<std::string, std::set<std::string>>{{"libcublas.so.13", {"gemm", "fill"}},
                                                     {"libnccl.so.2", {"sum"}}});
}

TEST_CASE("uses of suppressions add up") {
  Report report = samples::clean_report();
  report.suppressions = {{"kernel:add", 2}, {"file:a.cu", 0}};
  CHECK(merge({report, report}).suppressions ==
        std::vector<SuppressionUse>{{"kernel:add", 4}, {"file:a.cu", 0}});
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

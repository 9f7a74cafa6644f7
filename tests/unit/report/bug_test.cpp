#include "report/bug.h"

#include <catch2/catch.hpp>

#include "tests/unit/failed_assertion.h"
#include "tests/unit/report/samples.h"

namespace barracuda::report {
namespace {

TEST_CASE("kinds, severities, operations and instances are variants of one bug, errors first") {
  std::vector<Finding> findings(5, samples::race());
  findings[0].severity = FindingSeverity::kWarning;
  findings[1].kind = "intra-warp";
  findings[2].accesses[1].operation = AccessOperation::kWrite;
  findings[3].accesses[0].kernel = "void add<float>(float*)";
  findings[4].fingerprint = "another";
  const std::vector<Bug> bugs = bugs_of(findings);
  REQUIRE(bugs.size() == 2);
  CHECK(bugs[0].variants.size() == 4);
  CHECK(&bugs[0].shown() == &findings[2]);
  CHECK(bugs[0].variants.back() == &findings[0]);
  CHECK(bugs[0].count() == 48);
  CHECK(&bugs[1].shown() == &findings[4]);
}

TEST_CASE("the order of the two accesses makes no variant, what they do does") {
  const Finding race = samples::race();
  Finding turned = race;
  std::swap(turned.accesses[0], turned.accesses[1]);
  CHECK(is_same_variant(race, turned));
  Finding write = race;
  write.accesses[1].operation = AccessOperation::kWrite;
  CHECK_FALSE(is_same_variant(race, write));
  CHECK(operations_of(race) == "write and read");
  CHECK(operations_of(turned) == "write and read");
  CHECK(operations_of(write) == "write and write");
}

TEST_CASE("a repetition is counted, and its process is added") {
  std::vector<Finding> findings;
  add_finding(findings, samples::race());
  Finding again = samples::race();
  again.processes = {{"app", 41}};
  add_finding(findings, again);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].count == 24);
  CHECK(findings[0].processes == std::vector<Process>{{"app", 41}, {"app", 42}});
}

TEST_CASE("findings without a fingerprint stay by themselves") {
  std::vector<Finding> findings(2, samples::race());
  findings[0].fingerprint = findings[1].fingerprint = "";
  CHECK(bugs_of(findings).size() == 2);
}

TEST_CASE(
    "of the variants the one with the farthest threads is shown, for its remedy cures the others") {
  std::vector<Finding> findings = {samples::race(), samples::race(), samples::race()};
  findings[0].kind = "intra-warp";
  findings[1].kind = "inter-block";
  findings[1].severity = FindingSeverity::kWarning;
  findings[2].kind = "intra-block";
  const std::vector<Bug> bugs = bugs_of(findings);
  REQUIRE(bugs.size() == 1);
  CHECK(bugs[0].shown().kind == "intra-block");
  CHECK(bugs[0].variants[1]->kind == "intra-warp");
  CHECK(bugs[0].variants[2]->kind == "inter-block");
}

TEST_CASE("a bug without a finding has nothing to show, which is our mistake") {
  CHECK_THAT(test::failed_assertion([] { (void)Bug{}.shown(); }), Catch::Contains("bug.h"));
}

}  // namespace
}  // namespace barracuda::report

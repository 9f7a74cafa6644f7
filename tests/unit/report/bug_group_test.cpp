#include "report/bug_group.h"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/unit/report/samples.h"

namespace barracuda::report {
namespace {

// Races of one kernel in `count` pairs of lines, each a bug of its own.
std::vector<Finding> races(std::uint32_t count) {
  std::vector<Finding> findings;
  for (std::uint32_t i = 0; i < count; ++i) {
    Finding race = samples::race();
    race.fingerprint = std::to_string(i);
    race.missing = "__syncwarp() is missing between lanes " + std::to_string(i) + " and 17";
    race.accesses[0].place.line += i;
    findings.push_back(race);
  }
  return findings;
}

std::vector<std::size_t> sizes_of(const std::vector<Finding>& findings) {
  std::vector<std::size_t> sizes;
  for (const BugGroup& group : groups_of(bugs_of(findings))) {
    sizes.push_back(1 + group.others.size());
  }
  return sizes;
}

TEST_CASE("bugs of one kernel that lack the same order are one group, if they are many") {
  CHECK(sizes_of(races(3)) == std::vector<std::size_t>{1, 1, 1});
  CHECK(sizes_of(races(4)) == std::vector<std::size_t>{4});
}

TEST_CASE("a group stands where its first bug was, and keeps the order of the others") {
  std::vector<Finding> findings = races(5);
  Finding other = samples::race();
  other.fingerprint = "other";
  findings.insert(findings.begin() + 1, other);
  const std::vector<Bug> bugs = bugs_of(findings);
  const std::vector<BugGroup> groups = groups_of(bugs);
  REQUIRE(groups.size() == 2);
  CHECK(&groups[0].first.shown() == findings.data());
  CHECK(&groups[0].others.front().shown() == &findings[2]);
  CHECK(&groups[0].others.back().shown() == &findings[5]);
  CHECK(&groups[1].first.shown() == &findings[1]);
}

TEST_CASE("what is not the same for a reader is in no group") {
  const auto alike_but = [](const auto& change) {
    std::vector<Finding> findings = races(4);
    change(findings[2]);
    return sizes_of(findings);
  };
  const std::vector<std::size_t> none(4, 1);
  CHECK(alike_but([](Finding& race) { race.accesses[1].kernel = "other(int*)"; }) == none);
  CHECK(alike_but([](Finding& race) { race.accesses[1].object = "left[3]"; }) == none);
  CHECK(alike_but([](Finding& race) { race.kind = "intra-block"; }) == none);
  CHECK(alike_but([](Finding& race) { race.space = "shared"; }) == none);
  CHECK(alike_but([](Finding& race) { race.severity = FindingSeverity::kWarning; }) == none);
  CHECK(alike_but([](Finding& race) { race.type = FindingType::kMemoryError; }) == none);
  CHECK(alike_but([](Finding& race) { race.missing = "__threadfence() is missing"; }) == none);
  CHECK(alike_but([](Finding& race) { race.missing = ""; }) == none);
}

TEST_CASE("elements of one variable, and which access came first, do not part them") {
  std::vector<Finding> findings = races(4);
  for (std::size_t i = 0; i < findings.size(); ++i) {
    findings[i].accesses[0].object = "left[" + std::to_string(i) + "]";
    findings[i].accesses[1].object = "right[" + std::to_string(i) + "]";
  }
  std::swap(findings[1].accesses[0], findings[1].accesses[1]);
  CHECK(sizes_of(findings) == std::vector<std::size_t>{4});
}

TEST_CASE("fences that are missing at different lines are different repairs") {
  std::vector<Finding> findings = races(4);
  for (std::size_t i = 0; i < findings.size(); ++i) {
    findings[i].missing = "a fence is missing before sum.cu:1" + std::to_string(i);
  }
  CHECK(sizes_of(findings) == std::vector<std::size_t>(4, 1));
}

}  // namespace
}  // namespace barracuda::report

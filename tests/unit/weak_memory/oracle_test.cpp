#include "weak_memory/oracle.h"

#include <csignal>

#include <catch2/catch.hpp>

namespace barracuda::weak_memory {
namespace {

Outcome that_prints(const std::string& output) {
  Outcome outcome;
  outcome.output = output;
  return outcome;
}

Outcome that_ends_with(int status) {
  Outcome outcome;
  outcome.status = status;
  return outcome;
}

Outcome with_finding(report::FindingType type) {
  Outcome outcome;
  outcome.report.findings.push_back({.type = type});
  return outcome;
}

}  // namespace

TEST_CASE("output is compared where the runs without weakness agree") {
  Oracle oracle({});
  oracle.learn({that_prints("3"), that_prints("3")});
  CHECK(oracle.compares_output());
  CHECK(oracle.judge(that_prints("3")) == Failure::kNone);
  CHECK(oracle.judge(that_prints("4")) == Failure::kOutput);
}

TEST_CASE("output that differs by itself says nothing") {
  Oracle oracle({});
  oracle.learn({that_prints("3"), that_prints("4")});
  CHECK(oracle.is_output_unstable());
  CHECK(oracle.judge(that_prints("5")) == Failure::kNone);
  CHECK(oracle.judge(that_ends_with(1)) == Failure::kStatus);
}

TEST_CASE("what is to be printed can be said, and that nothing is") {
  Oracle given({.expected_status = 0, .compare = CompareOutput::kText, .expected_output = "right"});
  given.learn({that_prints("wrong")});
  CHECK(given.judge(that_prints("wrong")) == Failure::kOutput);
  CHECK(given.judge(that_prints("right")) == Failure::kNone);
  Oracle always({.expected_status = 0, .compare = CompareOutput::kAlways, .expected_output = ""});
  always.learn({that_prints("3"), that_prints("4")});
  CHECK(!always.is_output_unstable());
  CHECK(always.judge(that_prints("4")) == Failure::kOutput);
  Oracle never({.expected_status = 0, .compare = CompareOutput::kNever, .expected_output = ""});
  never.learn({that_prints("3"), that_prints("3")});
  CHECK(never.judge(that_prints("4")) == Failure::kNone);
  CHECK(!never.is_output_unstable());
}

TEST_CASE("the first rule that is broken names the failure") {
  Oracle oracle({.expected_status = 3, .compare = CompareOutput::kNever, .expected_output = ""});
  oracle.learn({that_ends_with(3)});
  CHECK(oracle.judge(that_ends_with(3)) == Failure::kNone);
  CHECK(oracle.judge(that_ends_with(0)) == Failure::kStatus);
  CHECK(oracle.judge(that_ends_with(report::status_of_signal(SIGSEGV))) == Failure::kCrash);
  Outcome ended = that_ends_with(report::status_of_signal(SIGTERM));
  ended.is_over_time = true;
  CHECK(oracle.judge(ended) == Failure::kHang);
  Outcome unchecked = that_ends_with(3);
  unchecked.check_status = 1;
  CHECK(oracle.judge(unchecked) == Failure::kCheck);
  CHECK(oracle.judge(with_finding(report::FindingType::kMemoryError)) == Failure::kCudaError);
  CHECK(oracle.judge(with_finding(report::FindingType::kDeadlock)) == Failure::kHang);
  CHECK(oracle.judge(with_finding(report::FindingType::kTimeout)) == Failure::kHang);
  Outcome race = with_finding(report::FindingType::kRace);
  race.status = 3;
  CHECK(oracle.judge(race) == Failure::kNone);
}

}  // namespace barracuda::weak_memory

// What cannot be is found out by an assertion.
#include <catch2/catch.hpp>

#include "tests/unit/failed_assertion.h"
#include "weak_memory/oracle.h"
#include "weak_memory/statistics.h"

namespace barracuda::weak_memory {
namespace {

using Catch::Contains;
using test::failed_assertion;

TEST_CASE("more runs cannot fail than there were") {
  const Rate broken{.failures = 5, .runs = 4};
  CHECK_THAT(failed_assertion([&] { (void)chance_of(broken, {}); }), Contains("statistics.cpp"));
  CHECK_THAT(failed_assertion([&] { (void)chance_of({}, broken); }), Contains("statistics.cpp"));
  CHECK_THAT(failed_assertion([&] { (void)confidence_of(broken); }), Contains("statistics.cpp"));
}

TEST_CASE("a run that was lost is judged by nobody") {
  const Oracle oracle{OracleRules{}};
  Outcome lost;
  lost.lost = "its process is gone";
  CHECK_THAT(failed_assertion([&] { (void)oracle.judge(lost); }), Contains("outcome.lost"));
}

}  // namespace
}  // namespace barracuda::weak_memory

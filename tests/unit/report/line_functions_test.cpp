#include "report/line_functions.h"

#include <catch2/catch.hpp>

#include "tests/unit/report/samples.h"

namespace barracuda::report {
namespace {

using samples::site;

TEST_CASE("a copy that has lost its chain is in the function that others of its line are in") {
  const ptx::SourceFrame inner{"_Z4sumPf", "/src/sum.cuh", 9, 5};
  const ptx::SourceFrame lost{"_Z3addPi", "/src/sum.cuh", 9, 5};
  const ptx::SourceFrame own{"_Z3addPi", "/src/add.cu", 30, 5};
  ptx::SiteTable sites = {
      site(0, wire::Operation::kRead, {inner, own}), site(1, wire::Operation::kRead, {lost}),
      site(2, wire::Operation::kRead, {own}), site(3, wire::Operation::kRead, {lost}),
      site(4, wire::Operation::kRead, {})};
  sites[3].function = "_Z5otherPi";
  LineFunctions functions(sites);
  REQUIRE(functions.of(sites[1]) != nullptr);
  CHECK(*functions.of(sites[1]) == "_Z4sumPf");
  CHECK(functions.of(sites[0]) == nullptr);  // says it itself
  CHECK(functions.of(sites[2]) == nullptr);
  CHECK(functions.of(sites[3]) == nullptr);  // of another kernel
  CHECK(functions.of(sites[4]) == nullptr);
}

}  // namespace
}  // namespace barracuda::report

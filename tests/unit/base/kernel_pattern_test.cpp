#include "base/kernel_pattern.h"

#include <catch2/catch.hpp>

namespace barracuda {
namespace {

using Kind = KernelPattern::Kind;

void check(std::string_view option, Kind kind, std::string_view text) {
  const auto pattern = parse_kernel_pattern(option);
  CAPTURE(option);
  REQUIRE(pattern);
  CHECK(pattern->kind == kind);
  CHECK(pattern->text == text);
}

TEST_CASE("a kernel is named by a part, exactly, or by a regular expression") {
  check("kns=hist", Kind::kPart, "hist");
  check("kernel_substring=hist", Kind::kPart, "hist");
  check("kne=histogram", Kind::kExact, "histogram");
  check("kernel_name=histogram", Kind::kExact, "histogram");
  check("regex=^h.*=", Kind::kRegex, "^h.*=");
  check("histogram", Kind::kExact, "histogram");
  check("(", Kind::kExact, "(");
}

TEST_CASE("an equals sign in a name makes no key of it") {
  check("f<(E)1, &g(int)=0>", Kind::kExact, "f<(E)1, &g(int)=0>");
}

TEST_CASE("a key that there is not, a pattern that is none and nothing at all are errors") {
  CHECK(parse_kernel_pattern("knx=hist").error().message.find("'knx='") == 0);
  CHECK(parse_kernel_pattern("regex=(").error().message.find("'(' is not a regular expression") ==
        0);
  CHECK_FALSE(parse_kernel_pattern("kns="));
}

}  // namespace
}  // namespace barracuda

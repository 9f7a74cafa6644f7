#include "base/diagnostic.h"

#include <memory>

#include <catch2/catch.hpp>

#include "base/expected.h"

namespace barracuda {
namespace {

Expected<int> half(int number) {
  if (number % 2 != 0) {
    return unexpected({.message = "is odd", .line = 3});
  }
  return number / 2;
}

Expected<std::unique_ptr<int>> quarter(int number) {
  TRY(const int first, half(number));
  TRY(auto second, half(first));
  return std::make_unique<int>(second);
}

TEST_CASE("a diagnostic prints the parts of its place that are known") {
  CHECK(Diagnostic{.message = "bad"}.to_string() == "bad");
  CHECK(Diagnostic{.message = "bad", .file = "a.ptx"}.to_string() == "a.ptx: bad");
  CHECK(Diagnostic{.message = "bad", .file = "a.ptx", .line = 7}.to_string() == "a.ptx:7: bad");
  CHECK(Diagnostic{.message = "bad", .file = "a.ptx", .line = 7, .column = 2}.to_string() ==
        "a.ptx:7:2: bad");
  CHECK(Diagnostic{.message = "bad", .line = 7, .column = 2}.to_string() == "line 7:2: bad");
}

TEST_CASE("TRY hands on the value, and returns the first error") {
  const auto value = quarter(12);
  REQUIRE(value);
  CHECK(**value == 3);

  const auto error = quarter(6);
  REQUIRE_FALSE(error);
  CHECK(error.error() == Diagnostic{.message = "is odd", .line = 3});
}

}  // namespace
}  // namespace barracuda

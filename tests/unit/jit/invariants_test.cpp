// What a caller breaks on purpose is found out by an assertion.
#include <catch2/catch.hpp>

#include "jit/compiler.h"
#include "tests/unit/failed_assertion.h"

namespace barracuda::jit {
namespace {

TEST_CASE("a compiler that is no file is not started") {
  const Compiler none("");
  CHECK_FALSE(none.exists());
  CHECK_THAT(test::failed_assertion([&] { (void)none.compile("text", {}); }),
             Catch::Contains("compiler.cpp"));
}

}  // namespace
}  // namespace barracuda::jit

// What a caller breaks on purpose is found out by an assertion; what a file breaks is a Diagnostic.
#include <catch2/catch.hpp>

#include "fatbin/container.h"
#include "fatbin/decompress.h"
#include "tests/unit/failed_assertion.h"

namespace barracuda::fatbin {
namespace {

using Catch::Contains;
using test::failed_assertion;

TEST_CASE("a compression that is none neither packs nor unpacks") {
  const auto none = static_cast<Compression>(77);
  CHECK_THAT(failed_assertion([&] { (void)compress("text", none); }), Contains("decompress.cpp"));
  CHECK_THAT(failed_assertion([&] { (void)decompress({}, none, 0); }), Contains("decompress.cpp"));
}

TEST_CASE("there is a header where its size is asked for") {
  CHECK_THAT(failed_assertion([] { (void)declared_size(nullptr); }), Contains("container.cpp"));
}

}  // namespace
}  // namespace barracuda::fatbin

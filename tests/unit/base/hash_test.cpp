#include "base/hash.h"

#include <catch2/catch.hpp>

namespace barracuda {
namespace {

TEST_CASE("the hash of nothing is the one that XXH3 defines") {
  CHECK(hash128("").hex() == "99aa06d3014798d86001c324468d497f");
}

TEST_CASE("a hash tells texts, lengths and seeds apart") {
  CHECK(hash128("a") == hash128("a"));
  CHECK(hash128("a") != hash128("b"));
  CHECK(hash128(std::string_view("a\0", 2)) != hash128("a"));
  CHECK(hash128("a", 1) != hash128("a", 2));
}

TEST_CASE("the digits of a hash keep leading zeros") {
  CHECK(Hash128{.high = 1, .low = 0xab}.hex() == "000000000000000100000000000000ab");
}

}  // namespace
}  // namespace barracuda

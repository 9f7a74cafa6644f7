#include "base/value_wait.h"

#include <catch2/catch.hpp>

namespace barracuda {
namespace {

bool is_met(ValueCondition condition, std::uint64_t found, std::uint64_t value,
            std::uint32_t bytes = 4) {
  return ValueWait{.address = 0, .value = value, .bytes = bytes, .condition = condition}.is_met(
      found);
}

}  // namespace

TEST_CASE("a counter that is waited for may go round, in as many bits as it has") {
  using enum ValueCondition;
  CHECK(is_met(kAtLeast, 7, 7));
  CHECK(is_met(kAtLeast, 8, 7));
  CHECK_FALSE(is_met(kAtLeast, 6, 7));
  CHECK(is_met(kAtLeast, 3, 0xFFFFFFFE));
  CHECK_FALSE(is_met(kAtLeast, 3, 0xFFFFFFFE, 8));
  CHECK(is_met(kAtLeast, 0, ~std::uint64_t{0}, 8));
  CHECK_FALSE(is_met(kAtLeast, 0x80000000, 0));
  CHECK(is_met(kAtLeast, 0x80000000, 0, 8));
}

TEST_CASE("a value is waited for by being equal, by a bit, or by a bit that is in neither") {
  using enum ValueCondition;
  CHECK(is_met(kEqual, 5, 5));
  CHECK_FALSE(is_met(kEqual, 5, 4));
  CHECK(is_met(kEqual, std::uint64_t{1} << 32, 0));
  CHECK_FALSE(is_met(kEqual, std::uint64_t{1} << 32, 0, 8));
  CHECK(is_met(kAnyBit, 6, 3));
  CHECK_FALSE(is_met(kAnyBit, 4, 3));
  CHECK(is_met(kAnyZero, 0xFFFF0000, 0x0000FFFE));
  CHECK_FALSE(is_met(kAnyZero, 0xFFFF0000, 0x0000FFFF));
  CHECK(is_met(kAnyZero, 0xFFFF0000, 0x0000FFFF, 8));
}

}  // namespace barracuda

#include "base/strong_id.h"

#include <cstdint>

#include <catch2/catch.hpp>

namespace barracuda {
namespace {

enum class ShelfId : std::uint16_t {};

template <typename Id>
concept Addable = requires(Id id) { id + id; };

TEST_CASE("a strong id gives its number, in its own type, and cannot be added") {
  CHECK(index_of(ShelfId{41}) == 41);
  STATIC_REQUIRE(std::is_same_v<decltype(index_of(ShelfId{})), std::uint16_t>);
  STATIC_REQUIRE_FALSE(Addable<ShelfId>);
}

}  // namespace
}  // namespace barracuda

#include "host_detector/sync/small_map.h"

#include <memory>

#include <catch2/catch.hpp>

namespace barracuda::detector::test {
namespace {

using Map = SmallMap<std::uint64_t, std::unique_ptr<std::uint64_t>>;

Map with_keys_below(std::uint64_t end) {
  Map map;
  for (std::uint64_t key = 0; key < end; ++key) {
    map[key] = std::make_unique<std::uint64_t>(key * 10);
  }
  return map;
}

TEST_CASE("a small map finds what was put there, and nothing else, however many there are") {
  for (const std::uint64_t count : {0U, 1U, 8U, 9U, 100U}) {
    Map map = with_keys_below(count);
    REQUIRE(map.size() == count);
    REQUIRE(map.find(count) == nullptr);
    std::uint64_t expected = 0;
    for (const auto& [key, value] : map) {
      REQUIRE(key == expected++);
      REQUIRE(map.find(key) == &value);
      REQUIRE(&map[key] == &value);
      REQUIRE(*value == key * 10);
    }
    REQUIRE(expected == count);
    REQUIRE(map[count] == nullptr);
    REQUIRE(map.size() == count + 1);
  }
}

TEST_CASE("a small map drops the oldest, and finds the others again") {
  for (const std::uint64_t dropped : {1U, 92U, 95U, 100U}) {
    Map map = with_keys_below(100);
    map.drop_first(dropped);
    REQUIRE(map.size() == 100 - dropped);
    for (std::uint64_t key = 0; key < 100; ++key) {
      const auto* const found = map.find(key);
      REQUIRE((found == nullptr) == (key < dropped));
      REQUIRE((found == nullptr || **found == key * 10));
    }
  }
}

}  // namespace
}  // namespace barracuda::detector::test

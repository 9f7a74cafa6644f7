#include "base/number_text.h"

#include <cstdint>

#include <catch2/catch.hpp>

namespace barracuda {

TEST_CASE("a number is the whole text, or none") {
  CHECK(parse_number<std::uint32_t>("4294967295") == 4294967295U);
  CHECK(parse_number<int>("-7") == -7);
  CHECK(parse_number<double>("0.25") == 0.25);
  CHECK(parse_number<unsigned>("ff", 16) == 0xFFU);
  for (const char* const text : {"", " 1", "1 ", "+1", "-1", "1x", "x", "4294967296"}) {
    CHECK_FALSE(parse_number<std::uint32_t>(text));
  }
}

TEST_CASE("0x says that a number is hexadecimal") {
  CHECK(parse_prefixed_number<std::uint64_t>("0xffffffffffffffff") == ~std::uint64_t{0});
  CHECK(parse_prefixed_number<int>("12") == 12);
  CHECK_FALSE(parse_prefixed_number<int>("0x"));
  CHECK_FALSE(parse_prefixed_number<int>("ff"));
}

TEST_CASE("a number is taken off the text that begins with it") {
  std::string_view text = "12s";
  CHECK(take_number<int>(text) == 12);
  CHECK(text == "s");
  CHECK_FALSE(take_number<int>(text));
  CHECK(text == "s");
}

}  // namespace barracuda

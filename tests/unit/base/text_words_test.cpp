#include "base/text_words.h"

#include <string>

#include <catch2/catch.hpp>

namespace barracuda {

TEST_CASE("a line is taken word by word") {
  std::string_view rest = "  one\ttwo \r";
  CHECK(take_word(rest) == "one");
  CHECK(take_word(rest) == "two");
  CHECK(take_word(rest).empty());
  CHECK(take_word(rest).empty());
}

TEST_CASE("of a long text a message has the beginning") {
  CHECK(quote("fence") == "'fence'");
  CHECK(quote(std::string(100, 'x')) == "'" + std::string(80, 'x') + "'");
}

}  // namespace barracuda

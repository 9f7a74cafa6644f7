#include "base/percent_code.h"

#include <catch2/catch.hpp>

namespace barracuda {

TEST_CASE("any text is one word, and is read back") {
  CHECK(percent_encoded("/a b/100%,c", ",") == "/a%20b/100%25%2Cc");
  CHECK(percent_encoded("a,b") == "a,b");
  std::string all;
  for (int byte = 0; byte < 256; ++byte) {
    all += static_cast<char>(byte);
  }
  const std::string word = percent_encoded(all);
  CHECK(word.find_first_of(" \t\n") == word.npos);
  CHECK(percent_decoded(word) == all);
  CHECK(percent_decoded("") == "");
}

TEST_CASE("who writes the text may say which bytes are written out") {
  const auto is_high = [](unsigned char byte) { return byte >= 0x80; };
  CHECK(percent_encoded("a b%\xc3\xa4", is_high) == "a b%%C3%A4");
}

TEST_CASE("a percent sign without two digits is no word of ours") {
  for (const char* text : {"%", "a%2", "%2g", "%+1", "% 1"}) {
    CHECK_FALSE(percent_decoded(text));
  }
}

}  // namespace barracuda

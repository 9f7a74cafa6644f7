#include "base/text_lines.h"

#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

namespace barracuda {
namespace {

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> all;
  TextLines lines(text);
  while (const auto line = lines.next()) {
    all.emplace_back(*line);
    CHECK(lines.number() == all.size());
  }
  CHECK_FALSE(lines.next());
  return all;
}

using Lines = std::vector<std::string>;

TEST_CASE("a text is what lies between its line ends, empty lines too") {
  CHECK(lines_of("one\n\ntwo\n") == Lines{"one", "", "two"});
  CHECK(lines_of("\n") == Lines{""});
  CHECK(lines_of("one") == Lines{"one"});
  CHECK(lines_of("").empty());
}

TEST_CASE("a last line without its end says so") {
  TextLines lines("one\ntwo");
  (void)lines.next();
  CHECK(lines.has_end());
  (void)lines.next();
  CHECK_FALSE(lines.has_end());
}

}  // namespace
}  // namespace barracuda

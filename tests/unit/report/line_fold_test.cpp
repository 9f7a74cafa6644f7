#include "report/line_fold.h"

#include <algorithm>

#include <catch2/catch.hpp>

namespace barracuda::report {
namespace {

std::size_t widest(std::string_view text) {
  std::size_t widest = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    widest = std::max(widest, columns_of(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return widest;
}

TEST_CASE("a line that fits stays as it is, and so does every line without a limit") {
  CHECK(folded("", 40) == "");
  CHECK(folded("  short\n\nlines\n", 40) == "  short\n\nlines\n");
  const std::string line(500, 'x');
  CHECK(folded(line + "\n", 0) == line + "\n");
}

TEST_CASE("a wide line is broken at a blank and goes on further to the right") {
  CHECK(folded("  one two three four five six seven eight nine\n", 40) ==
        "  one two three four five six seven\n      eight nine\n");
  CHECK(folded("  one two three four five six seven eight nine", 40, 2) ==
        "  one two three four five six seven\n    eight nine");
}

TEST_CASE("without a blank it is broken behind a mark, and else between letters") {
  const std::string path = "/a/folder/with/many/others/and/a/file/at/the/end.cu";
  CHECK(folded(path, 40) == "/a/folder/with/many/others/and/a/file/\n    at/the/end.cu");
  CHECK(folded("std::one::two::three::four::five::six::seven", 40) ==
        "std::one::two::three::four::five::six::\n    seven");
  CHECK(folded(std::string(50, 'x'), 40) == std::string(40, 'x') + "\n    " + std::string(10, 'x'));
}

TEST_CASE("no line is wider than the limit, and no letter is lost or cut in half") {
  std::string line = "   ";
  for (int i = 0; i < 400; ++i) {
    line += i % 7 == 0 ? "…" : i % 11 == 0 ? " " : i % 13 == 0 ? "::" : "xy";
  }
  for (const std::size_t columns : {40U, 61U, 80U, 160U}) {
    std::string all = folded(line, columns);
    CHECK(widest(all) <= columns);
    std::erase_if(all, [](char c) { return c == ' ' || c == '\n'; });
    std::string whole = line;
    std::erase(whole, ' ');
    CHECK(all == whole);
  }
}

TEST_CASE("colours take no columns") {
  CHECK(columns_of("\033[1;31mERROR\033[0m …") == 7);
  const std::string line = "\033[1;31m" + std::string(40, 'x') + "\033[0m";
  CHECK(folded(line, 40) == line);
}

}  // namespace
}  // namespace barracuda::report

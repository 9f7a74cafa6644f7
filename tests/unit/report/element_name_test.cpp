#include "report/element_name.h"

#include <catch2/catch.hpp>

namespace barracuda::report {
namespace {

Finding finding_of(const std::string& first, const std::string& second, std::uint64_t size = 4) {
  Finding finding;
  for (const std::string& line : {first, second}) {
    Access access;
    access.size = size;
    access.source = line;
    finding.accesses.push_back(access);
  }
  return finding;
}

TEST_CASE("the place of a variable is read from its site") {
  const VariablePlace placed = place_of_variable("_ZZ3addPiE4tile@8:128");
  CHECK(placed.name == "tile");
  CHECK(placed.offset == 8);
  CHECK(placed.bytes == 128);
  CHECK(place_of_variable("_ZZ3addPiE4tile").name == "tile");
  CHECK(place_of_variable("_ZZ3addPiE4tile").bytes == 0);
  CHECK(place_of_variable("").name.empty());
}

TEST_CASE("an element of an array has an index") {
  const Finding finding = finding_of("left[threadIdx.x] = 1;", "sum += left [a[i] + 1];");
  CHECK(element_name(finding, "left", 128, 256) == "left[32]");
  CHECK(element_name(finding, "left", 0, 256) == "left[0]");
  CHECK(element_name(finding_of("left[i] = 1;", "*p = 2;"), "left", 4, 256) == "left[1]");
  CHECK(element_name(finding_of("d[i] = 1;", "d[0] = 2;", 8), "d", 16, 64) == "d[2]");
}

TEST_CASE("an array that the compiler has taken apart has the index in its elements' names") {
  const VariablePlace second = place_of_variable("_ZZ3addPiE4left_$_1");
  CHECK(second.name == "left");
  CHECK(second.element == 1);
  CHECK(element_name(finding_of("left[1] = 1;", "v = left[1];"), second) == "left[1]");
  CHECK(element_name(finding_of("left.b = 1;", "v = left.b;"), second) == "left");
  const VariablePlace member = place_of_variable("_ZZ3addPiE4left_$_1_$_0@8:4");
  CHECK(member.name == "left");
  CHECK_FALSE(member.element);
  CHECK(member.bytes == 4);
}

TEST_CASE("without a line that tells the elements there is no index") {
  CHECK(element_name(finding_of("", ""), "left", 128, 256) == "left");
  CHECK(element_name(finding_of("*p = 1;", "*p = 2;"), "left", 128, 256) == "left");
  CHECK(element_name(finding_of("tile[y][x] = 1;", "v = tile[x][y];"), "tile", 128, 256) == "tile");
  CHECK(element_name(finding_of("cell[i].a = 1;", "v = cell[j].b;"), "cell", 128, 256) == "cell");
  CHECK(element_name(finding_of("cell[i]->a = 1;", "v = cell[j];"), "cell", 128, 256) == "cell");
  CHECK(element_name(finding_of("my_left[i] = 1;", "left_of[i] = 2;"), "left", 128, 256) == "left");
}

TEST_CASE("neither a scalar, nor a part of an element, nor accesses of two sizes have an index") {
  CHECK(element_name(finding_of("flag = 1;", "while (flag == 0) {"), "flag", 0, 4) == "flag");
  const Finding finding = finding_of("left[i] = 1;", "left[j] = 2;");
  CHECK(element_name(finding, "left", 6, 256) == "left");
  CHECK(element_name(finding, "left", 256, 256) == "left");
  Finding mixed = finding;
  mixed.accesses[1].size = 8;
  CHECK(element_name(mixed, "left", 8, 256) == "left");
}

}  // namespace
}  // namespace barracuda::report

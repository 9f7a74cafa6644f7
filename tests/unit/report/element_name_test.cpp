#include "report/element_name.h"

#include <filesystem>

#include <catch2/catch.hpp>

#include "base/file.h"

namespace barracuda::report {
namespace {

constexpr std::uint64_t kBegin = 0x1000;

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

// Both accesses are `offset` bytes behind the variable's beginning.
std::string name_of_element(Finding finding, const std::string& name, std::uint64_t offset,
                            std::uint64_t bytes) {
  for (Access& access : finding.accesses) {
    access.address = kBegin + offset;
  }
  return element_name(finding, name, kBegin, bytes, nullptr);
}

TEST_CASE("the place of a variable is read from its site") {
  const VariablePlace placed = place_of_variable("_ZZ3addPiE4tile@8:128");
  CHECK(placed.name == "tile");
  CHECK(placed.offset == 8);
  CHECK(placed.bytes == 128);
  CHECK(placed.is_placed);
  const VariablePlace dynamic = place_of_variable("dynamic@32:0");
  CHECK(dynamic.is_placed);
  CHECK(dynamic.bytes > std::uint64_t{227} * 1024);
  CHECK(place_of_variable("_ZZ3addPiE4tile").name == "tile");
  CHECK_FALSE(place_of_variable("_ZZ3addPiE4tile").is_placed);
  CHECK(place_of_variable("").name.empty());
}

TEST_CASE("an element of an array has an index") {
  const Finding finding = finding_of("left[threadIdx.x] = 1;", "sum += left [a[i] + 1];");
  CHECK(name_of_element(finding, "left", 128, 256) == "left[32]");
  CHECK(name_of_element(finding, "left", 0, 256) == "left[0]");
  CHECK(name_of_element(finding_of("left[i] = 1;", "*p = 2;"), "left", 4, 256) == "left[1]");
  CHECK(name_of_element(finding_of("d[i] = 1;", "d[0] = 2;", 8), "d", 16, 64) == "d[2]");
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
  CHECK(name_of_element(finding_of("", ""), "left", 128, 256) == "left");
  CHECK(name_of_element(finding_of("*p = 1;", "*p = 2;"), "left", 128, 256) == "left");
  CHECK(name_of_element(finding_of("tile[y][x] = 1;", "v = tile[x][y];"), "tile", 128, 256) ==
        "tile");
  CHECK(name_of_element(finding_of("cell[i].a = 1;", "v = cell[j].b;"), "cell", 128, 256) ==
        "cell");
  CHECK(name_of_element(finding_of("cell[i]->a = 1;", "v = cell[j];"), "cell", 128, 256) == "cell");
  CHECK(name_of_element(finding_of("my_left[i] = 1;", "left_of[i] = 2;"), "left", 128, 256) ==
        "left");
}

TEST_CASE("of several indices the array's declaration says which they are") {
  const std::string file = std::filesystem::temp_directory_path() / "barracuda-element-name.cu";
  REQUIRE(write_file(file, "__shared__ float tile[4][3];\ntile[y][x] = 1;\nv = tile[x][y];\n"));
  Finding finding = finding_of("tile[y][x] = 1;", "v = tile[x][y];");
  finding.accesses[0].place = {.file = file, .line = 2};
  for (Access& access : finding.accesses) {
    access.address = kBegin + 28;
  }
  SourceText sources;
  CHECK(element_name(finding, "tile", kBegin, 48, &sources) == "tile[2][1]");
  CHECK(element_name(finding, "tile", kBegin, 64, &sources) == "tile");
  CHECK(element_name(finding, "tile", kBegin, 48, nullptr) == "tile");
  finding.accesses[1].source = "v = tile[x];";
  CHECK(element_name(finding, "tile", kBegin, 48, &sources) == "tile");
  finding.accesses[0].place.line = 0;
  finding.accesses[1].source = "v = tile[x][y];";
  CHECK(element_name(finding, "tile", kBegin, 48, &sources) == "tile");
  std::filesystem::remove(file);
}

TEST_CASE("neither a scalar, nor a part of an element, nor accesses of two sizes have an index") {
  CHECK(element_name(finding_of("flag = 1;", "while (flag == 0) {"), "flag", 0, 4, nullptr) ==
        "flag");
  const Finding finding = finding_of("left[i] = 1;", "left[j] = 2;");
  CHECK(name_of_element(finding, "left", 6, 256) == "left");
  CHECK(name_of_element(finding, "left", 256, 256) == "left");
  Finding mixed = finding;
  mixed.accesses[1].size = 8;
  CHECK(name_of_element(mixed, "left", 8, 256) == "left");
}

TEST_CASE("an access of many elements at once does not say how large they are, nor where one is") {
  Finding finding = finding_of("BULK_STORE(x, left, 256);", "left[threadIdx.x] = 7;");
  finding.accesses[0].size = 256;
  finding.accesses[0].instruction = "cp.async.bulk.global.shared::cta.bulk_group";
  finding.accesses[0].address = kBegin;
  finding.accesses[1].address = kBegin + 12;
  CHECK(element_name(finding, "left", kBegin, 256, nullptr) == "left[3]");
  finding.accesses[0].source = "BULK_STORE(x, &left[0], 256);";
  CHECK(element_name(finding, "left", kBegin, 256, nullptr) == "left[3]");
  for (const char* const instruction : {"st.shared.v4.u32", "cp.async.cg.shared.global"}) {
    finding.accesses[1].instruction = instruction;
    CHECK(element_name(finding, "left", kBegin, 256, nullptr) == "left");
  }
}

TEST_CASE("the address in another block of the cluster has its rank above the offset") {
  Finding finding = finding_of("left[i] = 1;", "*p = 2;");
  finding.space = "shared";
  finding.accesses[0].address = (std::uint64_t{3} << 32) + 40;
  CHECK(element_name(finding, "left", 32, 256, nullptr) == "left[2]");
}

}  // namespace
}  // namespace barracuda::report

#include "report/source_text.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>

#include "base/file.h"
#include "tests/unit/scratch_folder.h"

namespace barracuda::report {
namespace {

constexpr const char* kSource =
    "__device__ int twice(int x);\n"     // 1
    "__global__ void other(int* p) {\n"  // 2
    "  p[0]  =\t1;  \n"                  // 3
    "}\n"                                // 4
    "template <typename T>\n"            // 5
    "__global__ void add(\n"             // 6
    "    T* p) {\n"                      // 7
    "  p[0] = 1;\n"                      // 8
    "  add(p);\n"                        // 9
    "  p[0] = 1;\n"                      // 10
    "\n";                                // 11

std::optional<SourceText::Line> line(const std::string& file, std::uint32_t number,
                                     const std::string& function) {
  SourceText text;
  return text.line_of({.function = function, .file = file, .line = number});
}

TEST_CASE(
    "a line is its text with single blanks, and its place among equal lines of its function") {
  const ScratchFolder folder;
  const std::string file = folder / "a.cu";
  REQUIRE(write_file(file, kSource).has_value());
  const std::string add = "void add<int>(int*)";
  CHECK(line(file, 3, "other(int*)")->text == "p[0] = 1;");
  CHECK(line(file, 3, "other(int*)")->order == 0);
  SourceText sources;
  CHECK(sources.text_of({.function = "other(int*)", .file = file, .line = 3}) == "p[0] = 1;");
  CHECK(sources.text_of({.function = "other(int*)", .file = file, .line = 99}).empty());
  CHECK(line(file, 8, add)->order == 0);
  CHECK(line(file, 10, add)->order == 1);
  SECTION("lines that come above change nothing") {
    REQUIRE(write_file(file, "p[0] = 1;\n\n\n" + std::string(kSource)).has_value());
    CHECK(line(file, 11, add)->order == 0);
    CHECK(line(file, 13, add)->order == 1);
  }
  SECTION("a function whose begin is not found counts from the first line") {
    CHECK(line(file, 10, "main::{lambda(int)#1}::operator()(int) const")->order == 2);
  }
}

TEST_CASE("what cannot be read has no text") {
  const ScratchFolder folder;
  const std::string file = folder / "a.cu";
  REQUIRE(write_file(file, kSource).has_value());
  CHECK_FALSE(line(file, 11, "add").has_value());
  CHECK_FALSE(line(file, 99, "add").has_value());
  CHECK_FALSE(line(file, 0, "add").has_value());
  CHECK_FALSE(line("", 3, "add").has_value());
  CHECK_FALSE(line(folder / "none.cu", 3, "add").has_value());
  CHECK_FALSE(line(folder.path(), 3, "add").has_value());
  const std::string pipe = folder / "pipe.cu";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_FALSE(line(pipe, 3, "add").has_value());
}

}  // namespace
}  // namespace barracuda::report

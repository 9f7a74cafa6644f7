#include "ptx/print.h"

#include <cstdlib>
#include <fstream>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "ptx/parse.h"
#include "ptx_text.h"

namespace barracuda::ptx {

namespace {

void check_round_trip(const Module& module) {
  const Module again = parse_module(print(module));
  CHECK(equal(module, again));
  CHECK(print(again) == print(module));
}

void check_assembles(std::string_view suffix) {
  for (const auto& path : corpus(suffix)) {
    const Module module = parse_module(read_text(path));
    const std::string printed = path.string() + ".printed";
    std::ofstream(printed) << print(module);
    const std::string command =
        fmt::format("'{}' -c -O0 -arch={} '{}' -o /dev/null > '{}.log' 2>&1", BARRACUDA_PTXAS,
                    module.target, printed, printed);
    CAPTURE(command);
    CHECK(std::system(command.c_str()) == 0);
  }
}

}  // namespace

TEST_CASE("printing puts one statement on a line, as it was written") {
  const Module module = parse_kernel("{ .reg .u32 r; add.u32 r, 1, /* two */ 2; } L: ret; // end");
  CHECK(
      print(module) ==
      ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry kernel(.param .u64 p)\n{\n{\n"
      "\t.reg .u32 r;\n\tadd.u32 r, 1, /* two */ 2;\n}\nL:\n\tret;\n}\n");
  check_round_trip(module);
}

TEST_CASE("modules are equal when their tokens are") {
  const Module module = parse_kernel("add.u32 %r1, 1, 2; ret;");
  CHECK(equal(module, parse_kernel("add.u32 %r1,1 /* one */, 2\n; // more\nret ;")));
  CHECK_FALSE(equal(module, parse_kernel("add.u32 %r1, 12; ret;")));
  CHECK_FALSE(equal(module, parse_kernel("add.u32 %r1, 1, 2;")));
  CHECK_FALSE(equal(module, parse_kernel("add.u32 %r1, 1, 2; exit;")));
  CHECK_FALSE(equal(parse_kernel(".pragma \"a b\";"), parse_kernel(".pragma \"a  b\";")));
}

TEST_CASE("what a comment holds does not end a statement when it is printed") {
  const Module module = parse_kernel("call (a), // ; }\n f, (b); /* } */ ret; // {");
  check_round_trip(module);
}

TEST_CASE("every file of the corpus is the same after printing and parsing") {
  for (const auto& path : corpus()) {
    CAPTURE(path);
    const Module module = parse_module(read_text(path));
    CHECK_FALSE(module.functions.empty());
    check_round_trip(module);
  }
}

TEST_CASE("ptxas assembles what is printed for sm_75") {
  check_assembles("sm_75.ptx");
}

TEST_CASE("ptxas assembles what is printed for sm_90") {
  check_assembles("sm_90.ptx");
}

TEST_CASE("ptxas assembles what is printed for sm_100") {
  check_assembles("sm_100.ptx");
}

TEST_CASE("ptxas assembles what is printed for debugging") {
  check_assembles("sm_90-G.ptx");
}

}  // namespace barracuda::ptx

#include "ptx/statement_name.h"

#include <catch2/catch.hpp>

#include "ptx_text.h"

namespace barracuda::ptx {

TEST_CASE("a statement's name is read back as it was written") {
  const StatementName name{.function = "_Z3dotPi", .ordinal = 14};
  CHECK(to_string(name) == "_Z3dotPi#14");
  CHECK(parse_statement_name("_Z3dotPi#14") == name);
}

TEST_CASE("what is not FUNCTION#STATEMENT is refused") {
  for (const char* text : {"", "f", "#1", "f#", "f#0", "f#-1", "f#1x", "f#99999999999", "a b#1",
                           "f#1#2", "f#+1", "f\n#1"}) {
    INFO(text);
    const auto name = parse_statement_name(text);
    REQUIRE_FALSE(name);
    CHECK_THAT(name.error().message, Catch::Contains("FUNCTION#STATEMENT"));
  }
  CHECK(parse_statement_name(std::string(1 << 20, 'x')).error().message.size() < 300);
}

TEST_CASE("ordinals count the instructions of a function, in nested blocks too") {
  const Module module = parse_kernel(
      ".reg .b32 %r<9>;\n.loc 1 1 1\nmov.u32 %r1, 1;\n{ .reg .b32 x; mov.u32 x, 2; }\nL: ret;");
  StatementIndex index(module);
  const auto opcode = [&](std::uint32_t ordinal) {
    const auto at = index.find({.function = "kernel", .ordinal = ordinal});
    return at ? std::string(module.statements[*at].text) : std::string("none");
  };
  CHECK(opcode(0) == "none");
  CHECK(opcode(1) == "mov.u32 %r1, 1;");
  CHECK(opcode(2) == "mov.u32 x, 2;");
  CHECK(opcode(3) == "ret;");
  CHECK(opcode(4) == "none");
  CHECK_FALSE(index.find({.function = "other", .ordinal = 1}));
  CHECK(index.function_of({.function = "other", .ordinal = 1}) == nullptr);
}

}  // namespace barracuda::ptx

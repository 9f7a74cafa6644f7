#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "ptx/parse.h"
#include "ptx_text.h"

namespace barracuda::ptx {

namespace {

std::string error(std::string text) {
  const auto module = parse(std::move(text));
  REQUIRE_FALSE(module);
  const Diagnostic& diagnostic = module.error();
  return fmt::format("{}:{}: {}", diagnostic.line, diagnostic.column, diagnostic.message);
}

// The body starts in line 6.
std::string body_error(std::string_view body) {
  return error(kernel_text(body));
}

}  // namespace

TEST_CASE("an error has the place of the token and says what was expected") {
  CHECK(body_error("ld.global.u32 %r1, [%rd1] foo;") ==
        "6:27: expected ';' after the operands of \"ld\", found \"foo\"");
  CHECK(body_error("ret") == "7:1: expected an operand, found '}'");
  CHECK(body_error("\n  /* never closed") == "7:3: unterminated block comment");
  CHECK(body_error("add.u32 %r1, , 2;") == "6:14: expected an operand, found ','");
  CHECK(body_error("ld.u32 %r1, [%rd1;") == "6:18: expected ']' after an address, found ';'");
  CHECK(body_error("mov.b64 {%r1, %r2, %rd1;") ==
        "6:24: expected ',' or '}' in a vector, found ';'");
  CHECK(body_error("@ ret;").starts_with("6:"));
  CHECK(body_error("@%p;") == "6:4: expected an instruction after its predicate, found ';'");
  CHECK(body_error(";") == "6:1: expected a statement, found ';'");
  CHECK(body_error("{") == "5:1: '{' without its '}'");
  CHECK(body_error("}") == "7:1: '}' without its '{'");
  CHECK(body_error("\x01") == "6:1: expected a statement, found byte 0x01");
  CHECK(body_error(".loc 1 2;") == "6:9: expected the column of .loc, found ';'");
  CHECK(body_error(".loc 1 2 3, foo") ==
        "6:13: expected function_name after ',' of .loc, found \"foo\"");
  CHECK(body_error(".reg .b32 %r<x>;") == "6:14: expected the number of registers, found \"x\"");
  CHECK(body_error(".reg .b32 ;") == "6:11: expected the name of a variable, found ';'");
  CHECK(body_error(".reg .flot %r;") == "6:6: unknown word \".flot\" in a declaration");
  CHECK(body_error(".pragma nounroll;") ==
        "6:9: expected a string after .pragma, found \"nounroll\"");
  CHECK(body_error("call (a, f;") == "6:11: expected ',' or ')' in a list, found ';'");
  CHECK(body_error(".func f;") == "6:6: a function inside of a function");
}

TEST_CASE("constants that cannot be are refused") {
  const auto constant = [](std::string_view text) {
    return body_error("mov.u32 %r1, " + std::string(text) + ";");
  };
  CHECK(constant("0f123") == "6:14: a 0f literal has 8 hexadecimal digits");
  CHECK(constant("0d3F800000") == "6:14: a 0d literal has 16 hexadecimal digits");
  CHECK(constant("099") == "6:14: malformed integer");
  CHECK(constant("0x") == "6:14: malformed integer");
  CHECK(constant("0b12") == "6:14: malformed integer");
  CHECK(constant("12ab") == "6:14: malformed integer");
  CHECK(constant("1.5e") == "6:14: malformed floating-point literal");
  CHECK(constant("18446744073709551616") == "6:14: this integer does not fit 64 bits");
  CHECK(constant("1/0") == "6:15: division by zero in a constant expression");
  CHECK(constant("5%(2-2)") == "6:15: division by zero in a constant expression");
  CHECK(constant("(1+2") == "6:18: expected ')' of a constant expression, found ';'");
  CHECK(constant("1 ? 2") == "6:19: expected ':' of a conditional expression, found ';'");
  CHECK(constant("~1.5") == "6:14: this operator takes integers");
  CHECK(constant("1.5 << 2") == "6:18: this operator takes integers");
  CHECK(constant("sym+1.5") == "6:17: an offset must be an integer");
}

TEST_CASE("modules that end early or start wrongly are refused") {
  CHECK(error(".visible .entry k(") == "1:19: expected a parameter, found the end of the text");
  CHECK(error(".visible .entry k()") ==
        "1:20: expected '{' or ';' after the header of \"k\", found the end of the text");
  CHECK(error(".entry k() .maxntid 3 {").starts_with("1:23: '{' without"));
  CHECK(error("add.u32 %r1, 1, 2;") == "1:1: an instruction outside of a function");
  CHECK(error("L: ") == "1:1: a label outside of a function");
  CHECK(error("{ }") == "1:1: a block outside of a function");
  CHECK(error("\n\n.section .debug_str { .b8 1") == "3:21: '{' without its '}'");
  CHECK(error(".file 1 \"abc\n\"") == "1:9: unterminated string");
  CHECK(error(".version nine") == "1:10: expected the number after .version, found \"nine\"");
  CHECK(error(". entry") == "1:1: expected a directive after '.'");
  CHECK(error(".whatever") ==
        "1:10: expected ';' or '{' after a directive, found the end of the text");
  CHECK(error(".global .b8 x[1099511627777];") == "1:14: the size of an array is out of range");
  CHECK(error(".visible ;") == "1:10: expected a state space, found ';'");
  CHECK(error(std::string("\0", 1)) == "1:1: expected a statement, found byte 0x00");
}

TEST_CASE("nesting is limited, not followed until the stack ends") {
  const std::string deep_parentheses(100'000, '(');
  const std::string deep_braces(100'000, '{');
  const std::string deep_brackets(100'000, '[');
  const std::string deep_minus(100'000, '-');
  std::string deep_pairs, deep_choice, deep_generic;
  for (int i = 0; i < 20'000; ++i) {
    deep_pairs += "%p|";
    deep_choice += "1?2:";
    deep_generic += "generic(";
  }
  for (const std::string& text : {deep_parentheses, deep_braces, deep_brackets, deep_minus,
                                  deep_pairs, deep_choice, "(.s64)" + deep_parentheses}) {
    CHECK(body_error("mov.u32 " + text + "1;").find("too deeply") != std::string::npos);
  }
  CHECK(body_error(deep_braces).find("too deeply") != std::string::npos);
  CHECK(error(".global .b8 x[] = " + deep_braces + ";").find("too deeply") != std::string::npos);
  CHECK_FALSE(error(".global .b8 x[] = {1(" + deep_generic + ";").empty());
  std::string casts;
  for (int i = 0; i < 20'000; ++i) {
    casts += "(.s64)";
  }
  CHECK(body_error("mov.u32 %r1, " + casts + "1;").find("too deeply") != std::string::npos);
}

TEST_CASE("an initialiser that would grow without bound is refused") {
  const std::string text = ".global .b8 x[2][1000000000] = {{1}, {2}};";
  CHECK(error(text).find("too many elements") != std::string::npos);
}

}  // namespace barracuda::ptx

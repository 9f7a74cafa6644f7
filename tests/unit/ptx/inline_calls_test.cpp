#include "ptx/inline_calls.h"

#include <string>

#include <catch2/catch.hpp>

#include "ptx/parse.h"
#include "ptx_text.h"

namespace barracuda::ptx {
namespace {

constexpr const char* kText = R"(.version 8.0
.target sm_90
.address_size 64
.func (.param .b32 result) twice(.param .b32 value)
{
.reg .b32 %r<3>;
.reg .pred %p<2>;
ld.param.u32 %r1, [value];
setp.eq.s32 %p1, %r1, 0;
@%p1 ret;
add.s32 %r2, %r1, %r1;
st.param.b32 [result+0], %r2;
ret;
}
.visible .entry k(.param .u64 p)
{
.reg .b32 %r<3>;
{
.param .b32 param0;
st.param.b32 [param0+0], %r1;
.param .b32 retval0;
call.uni (retval0), twice, (param0);
ld.param.b32 %r2, [retval0+0];
}
{
.param .b32 param0;
st.param.b32 [param0+0], %r1;
call.uni vprintf, (param0);
}
ret;
}
)";

TEST_CASE("a function stands in the place of its call, its parameters are registers") {
  const auto module = parse(kText);
  REQUIRE(module);
  const std::string text = inline_calls(*module, *module->find_function("k"));
  const auto made = parse(text);
  REQUIRE(made);
  const Function* const entry = made->find_function("k");
  REQUIRE(entry != nullptr);
  const std::string body = text.substr(text.find(".entry k"));
  CHECK(count(body, "call") == 1);    // there is no vprintf here
  CHECK(count(body, ".param") == 1);  // the kernel's own
  CHECK(count(body, "add.s32 %r2, %r1, %r1") == 1);
  CHECK(count(body, "bra $inlined_end") == 1);  // the last return needs none
  CHECK(count(body, "ret;") == 1);
  // What the caller gives is what the function takes, and the other way round.
  CHECK(count(body, "mov.b32 __inlined0_param0, %r1;") == 1);
  CHECK(count(body, "mov.b32 %r1, __inlined0_param0;") == 1);
  CHECK(count(body, "mov.b32 __inlined1_retval0, %r2;") == 1);
  CHECK(count(body, "mov.b32 %r2, __inlined1_retval0;") == 1);
}

// Its argument is set by these instructions.
std::string inlined_with(const std::string& set_argument) {
  std::string text = kText;
  const std::string set = "st.param.b32 [param0+0], %r1;\n.param .b32 retval0;";
  text.replace(text.find(set), set.size(), set_argument + "\n.param .b32 retval0;");
  const auto module = parse(text);
  REQUIRE(module);
  return inline_calls(*module, *module->find_function("k"));
}

TEST_CASE("a parameter that is a register is set as a whole, under its predicate, or is refused") {
  const std::string guarded = inlined_with("@%p1 st.param.b32 [param0+0], %r1;");
  CHECK(guarded.find("@%p1 mov.b32 __inlined") != std::string::npos);
  CHECK(guarded.find(".local.b32") == std::string::npos);
  const std::string in_parts = inlined_with("st.param.b16 [param0+0], %rs1;");
  CHECK(in_parts.find("st.param.b16 [param0+0]") != std::string::npos);
}

TEST_CASE("a function that calls itself stays a call") {
  const auto module = parse(
      ".version 8.0\n.target sm_90\n.address_size 64\n.func f()\n{\ncall.uni f;\nret;\n}\n"
      ".visible .entry k()\n{\ncall.uni f;\nret;\n}\n");
  REQUIRE(module);
  const std::string text = inline_calls(*module, *module->find_function("k"));
  REQUIRE(parse(text));
  CHECK(count(text.substr(text.find(".entry k")), "call.uni f") == 1);
}

}  // namespace
}  // namespace barracuda::ptx

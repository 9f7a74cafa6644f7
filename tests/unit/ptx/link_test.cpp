#include "ptx/link.h"

#include <algorithm>

#include <catch2/catch.hpp>

#include "ptx/device_runtime.h"
#include "ptx/parse.h"
#include "ptx/print.h"
#include "ptx_text.h"

namespace barracuda::ptx {
namespace {

std::string unit(std::string_view body, std::string_view target = "sm_75",
                 std::string_view version = "7.0") {
  return std::string(".version ") + std::string(version) + "\n.target " + std::string(target) +
         "\n.address_size 64\n" + std::string(body);
}

Expected<Module> link_texts(const std::vector<std::string>& texts) {
  std::vector<Module> units;
  for (const std::string& text : texts) {
    units.push_back(parse_module(text));
  }
  return link(std::move(units));
}

std::string linked(const std::vector<std::string>& texts) {
  auto module = link_texts(texts);
  INFO((module ? "" : module.error().to_string()));
  REQUIRE(module);
  return print(*module);
}

std::string error_of(const std::vector<std::string>& texts) {
  const auto module = link_texts(texts);
  REQUIRE(!module);
  return module.error().message;
}

constexpr std::string_view kDeclare = ".extern .func f(.param .b32 a);\n";
constexpr std::string_view kDefine = ".visible .func f(.param .b32 a)\n{\nret;\n}\n";
constexpr std::string_view kCall =
    ".visible .entry k()\n{\n{\n.param .b32 a;\nst.param.b32 [a], 1;\ncall.uni f, "
    "(a);\n}\nret;\n}\n";

}  // namespace

TEST_CASE("a single unit is linked to itself, unchanged") {
  const std::string text = unit(std::string(kDefine));
  CHECK(linked({text}) == print(parse_module(text)));
}

TEST_CASE("an extern declaration meets its definition in another unit, before or behind") {
  const std::string first = unit(std::string(kDeclare) + std::string(kCall));
  const std::string second = unit(std::string(kDefine));
  for (const auto& texts : {std::vector{first, second}, std::vector{second, first}}) {
    const std::string text = linked(texts);
    CHECK(count(text, ".extern") == 0);
    CHECK(text.find(".visible .func f(.param .b32 a);") < text.find("call.uni f"));
    CHECK(count(text, "call.uni f, (a);") == 1);
    REQUIRE(parse(text));
    CHECK(parse(text)->find_function("f")->has_body);
  }
}

TEST_CASE("the grid's barrier of NVIDIA's device runtime is linked where it is called") {
  const std::string caller = unit(R"(
.extern .func (.param .b32 status) cudaCGSynchronize(.param .b64 handle, .param .b32 flags);
.visible .entry k() {
  .param .b64 handle;
  .param .b32 flags;
  .param .b32 status;
  call.uni (status), cudaCGSynchronize, (handle, flags);
  ret;
})");
  CHECK(may_need_device_runtime(caller));
  std::vector<Module> units;
  units.push_back(parse_module(caller));
  REQUIRE(add_device_runtime(units));
  REQUIRE(units.size() == 2);
  const auto module = link(std::move(units));
  REQUIRE(module);
  REQUIRE(module->find_function("cudaCGSynchronize") != nullptr);
  CHECK(module->find_function("cudaCGSynchronize")->has_body);

  std::vector<Module> others;
  others.push_back(parse_module(unit(".visible .entry k() { ret; }")));
  REQUIRE(add_device_runtime(others));
  CHECK(others.size() == 1);
  // What nvcc -rdc=true links.
  others.push_back(parse_module(unit(
      ".extern .func cnpGetLastError();\n.visible .global .u32 __CNPRT_VERSION_NUMBER__ = 6000;\n"
      ".visible .func cudaGetLastError() { call cnpGetLastError; ret; }")));
  REQUIRE(add_device_runtime(others));
  REQUIRE(others.size() == 1);
  CHECK(others[0].find_function("k") != nullptr);
}

TEST_CASE("names local to a unit are renamed where they clash, and only there") {
  const std::string local =
      ".global .align 4 .u32 n;\n.func h()\n{\n.reg .b32 %r<2>;\nld.global.u32 %r1, "
      "[n+4];\nret;\n}\n";
  const std::string text = linked({unit(local), unit(local + ".global .u32 alone;\n")});
  CHECK(count(text, "[n+4]") == 1);
  CHECK(count(text, "[n__unit1+4]") == 1);
  CHECK(count(text, ".func h__unit1()\n") == 1);
  CHECK(count(text, ".global .u32 alone;") == 1);
}

TEST_CASE("an opcode or modifier that looks like a renamed name stays") {
  const std::string local = ".global .u32 add;\n.global .u32 u32;\n.visible .entry ";
  const std::string body =
      "()\n{\n.reg .b32 %r<2>;\nadd.u32 %r1, %r1, 1;\nst.global.u32 [add], %r1;\nret;\n}\n";
  const std::string text = linked({unit(local + "a" + body), unit(local + "b" + body)});
  CHECK(count(text, "add.u32 %r1, %r1, 1;") == 2);
  CHECK(count(text, "st.global.u32 [add__unit1], %r1;") == 1);
}

TEST_CASE("of weak definitions the first wins, and a strong one wins over all") {
  const std::string weak = ".weak .func f(.param .b32 a)\n{\n// weak\nmembar.cta;\nret;\n}\n";
  CHECK(count(linked({unit(weak), unit(weak)}), "membar.cta") == 1);
  const std::string text = linked({unit(weak), unit(std::string(kDefine)), unit(weak)});
  CHECK(count(text, "membar.cta") == 0);
  CHECK(parse_module(text).find_function("f")->is_visible);
}

TEST_CASE("a variable comes before those that name it, whatever unit they are of") {
  const std::string user =
      ".extern .global .u32 target;\n.visible .global .u64 pointer[1] = {generic(target)};\n";
  const std::string text = linked({unit(user), unit(".visible .global .u32 target = 3;\n")});
  CHECK(text.find(".u32 target = 3;") < text.find("generic(target)"));
  CHECK(count(text, ".extern") == 0);
}

TEST_CASE("the highest version and target win") {
  const std::string text = linked(
      {unit(".global .u32 a;\n", "sm_80", "8.1"), unit(".global .u32 b;\n", "sm_90a", "8.0")});
  CHECK(text.find(".version 8.1\n.target sm_90a\n") != std::string::npos);
}

TEST_CASE("dynamic shared memory is declared once, with the widest alignment") {
  const std::string text = linked(
      {unit(".extern .shared .align 4 .b8 s[];\n"), unit(".extern .shared .align 16 .b8 s[];\n")});
  CHECK(count(text, ".extern .shared") == 1);
  CHECK(count(text, ".align 16") == 1);
}

TEST_CASE("files and inlined functions keep their meaning") {
  const auto with_lines = [](std::string_view name, std::string_view file, std::string_view byte) {
    return unit(std::string(".visible .entry ") + std::string(name) +
                "()\n{\n.loc 1 5 1\n.loc 1 6 2, function_name $L__info_string0, inlined_at 1 5 1\n"
                "ret;\n}\n.file 1 \"" +
                std::string(file) + "\"\n.section .debug_str\n{\n$L__info_string0:\n.b8 " +
                std::string(byte) + ",0\n}\n");
  };
  const std::string text = linked({with_lines("a", "a.cu", "65"), with_lines("b", "b.cu", "66")});
  CHECK(count(text, ".loc 2 6 2, function_name $L__info_string0_unit1, inlined_at 2 5 1") == 1);
  CHECK(count(text, ".file 2 \"b.cu\"") == 1);
  CHECK(count(text, ".section .debug_str") == 1);
  CHECK(count(text, "$L__info_string0_unit1:") == 1);
  REQUIRE(parse(text));
}

TEST_CASE("a symbol defined twice or never is an error that names it") {
  CHECK(error_of({unit(std::string(kDefine)), unit(std::string(kDefine))}) ==
        "\"f\" is defined in two translation units");
  CHECK(error_of({unit(std::string(kDeclare) + std::string(kCall))}) ==
        "\"f\" is used and not defined");
  CHECK(error_of({unit(".extern .func cudaDeviceSynchronize();\n.visible .entry k()\n{\ncall.uni "
                       "cudaDeviceSynchronize;\nret;\n}\n")})
            .find("device runtime") != std::string::npos);
  CHECK(error_of({}) == "there is no PTX to link");
}

TEST_CASE("what the driver provides stays extern, declared once") {
  const std::string user = ".extern .func free(.param .b64 p);\n.visible .entry ";
  const std::string body = "(.param .u64 p)\n{\n.reg .b64 %r;\ncall.uni free, (%r);\nret;\n}\n";
  const std::string text = linked({unit(user + "a" + body), unit(user + "b" + body)});
  CHECK(count(text, ".extern .func free") == 1);
}

}  // namespace barracuda::ptx

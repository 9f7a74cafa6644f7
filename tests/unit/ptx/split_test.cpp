#include "ptx/split.h"

#include <catch2/catch.hpp>

#include "ptx/instrument.h"
#include "ptx/parse.h"
#include "ptx_text.h"

namespace barracuda::ptx {
namespace {

using Catch::Matchers::Contains;

constexpr std::string_view kHead = ".version 8.0\n.target sm_75\n.address_size 64\n";

std::unique_ptr<const SplitModule> split(std::string_view body) {
  auto made = SplitModule::read(std::string(kHead) + std::string(body));
  INFO((made ? "" : made.error().to_string()));
  REQUIRE(made);
  return std::move(*made);
}

std::string entry(std::string_view name, std::string_view body) {
  return ".visible .entry " + std::string(name) +
         "()\n{\n.reg .pred %p;\n.reg .b64 %rd<9>;\n.reg .b32 %r<9>;\n" + std::string(body) +
         "\nret;\n}\n";
}

std::string reason_of(std::string_view module, std::string_view kernel) {
  const auto made = split(module);
  const auto found = made->whole().find(kernel);
  return found == made->whole().end() ? "it stands alone" : found->second;
}

}  // namespace

TEST_CASE("a variable is the base's, and a part looks its address up") {
  const auto made =
      split(".global .align 4 .u32 count;\n.visible .global .align 8 .b8 table[64];\n" +
            entry("one",
                  "atom.global.add.u32 %r1, [count+4], 1;\nmov.u64 %rd1, table;\n"
                  "mov.u64 %rd2, table+16;\n@%p ld.global.u32 %r2, [table];") +
            entry("two", ""));
  CHECK(made->part_count() == 2);
  const KernelPart one = made->part("one");
  CHECK(one.variables == std::vector<std::string>{"count", "table"});
  CHECK_THAT(one.text, Contains(".const .align 8 .u64 __barracuda_variables[2];") &&
                           Contains("ld.const.u64 %__barracuda_v0, [__barracuda_variables+0];\n"
                                    "atom.global.add.u32 %r1, [%__barracuda_v0+4], 1;") &&
                           Contains("[__barracuda_variables+8];\nmov.u64 %rd1, %__barracuda_v0;") &&
                           Contains("add.s64 %__barracuda_v0, %__barracuda_v0, 16;\n"
                                    "mov.u64 %rd2, %__barracuda_v0;") &&
                           Contains("@%p ld.global.u32 %r2, [%__barracuda_v0];"));
  CHECK_THAT(one.text, !Contains("count") && !Contains(".entry two"));
  CHECK(parse(one.text));
  CHECK(made->part("two").variables.empty());
  // The host finds it by its name.
  CHECK_THAT(made->base(), Contains(".visible .global .align 4 .u32 count;") &&
                               Contains(".entry one()\n{\nret;\n}") && !Contains("atom"));
}

TEST_CASE("a part has the functions that it may call, and the shared memory that they use") {
  const auto made = split(
      ".shared .align 4 .b8 buffer[128];\n.shared .align 4 .b8 other[128];\n"
      ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
      ".func inner()\n{\n.reg .b32 %r<2>;\nld.shared.u32 %r1, [buffer];\nret;\n}\n"
      ".func outer()\n{\ncall inner;\nret;\n}\n.func unused()\n{\nret;\n}\n" +
      entry("one", "call outer;"));
  const std::string text = made->part("one").text;
  CHECK_THAT(text, Contains(".func inner()") && Contains(".func outer()") &&
                       Contains("buffer[128]") && !Contains("other") && !Contains("unused") &&
                       !Contains("vprintf"));
  CHECK_THAT(made->base(), !Contains(".func inner") && !Contains(".func unused"));
}

TEST_CASE("what a variable or an address ties to its module stays in the base") {
  CHECK_THAT(reason_of(".const .align 4 .u32 c;\n" + entry("k", "ld.const.u32 %r1, [c];"), "k"),
             Contains("k uses c, which is in constant memory"));
  CHECK_THAT(reason_of(".func f()\n{\nret;\n}\n" + entry("k", "mov.u64 %rd1, f;"), "k"),
             Contains("takes the address of f"));
  CHECK_THAT(reason_of(entry("k", "t: .callprototype ()_ ();\ncall %rd1, t;"), "k"),
             Contains("calls by an address"));
  CHECK_THAT(reason_of(".global .texref t;\n" +
                           entry("k", "tex.1d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [t, {%r5}];"),
                       "k"),
             Contains("memory that has no address"));
  // Launched by another kernel, or through a table.
  CHECK(reason_of(entry("k", "") + entry("l", "mov.u64 %rd1, k;"), "k") == "its address is taken");
  CHECK(reason_of(entry("k", "") + ".global .u64 table[1] = {k};\n", "k") ==
        "its address is taken");
}

TEST_CASE("functions of a table stay in the base with those that they call") {
  const auto made = split(
      ".func inner()\n{\nret;\n}\n.func f()\n{\ncall inner;\nret;\n}\n"
      ".visible .global .u64 table[1] = {f};\n" +
      entry("k", "mov.u64 %rd1, table;"));
  CHECK(made->has_part("k"));
  CHECK_THAT(made->base(), Contains(".func inner()\n{") && Contains(".func f()\n{"));
}

TEST_CASE("the texts of printf and assert go with the code, and nothing else of that name") {
  const auto made = split(
      ".global .align 1 .b8 $str[3] = {37, 100, 0};\n.visible .global .align 1 .b8 $strange[3] "
      "= {1, 2, 3};\n" +
      entry("k", "mov.u64 %rd1, $str;\nmov.u64 %rd2, $strange;"));
  const KernelPart part = made->part("k");
  CHECK(part.variables == std::vector<std::string>{"$strange"});
  CHECK_THAT(part.text, Contains("$str[3] = {37, 100, 0};"));
}

TEST_CASE("a module with an alias is not taken apart") {
  CHECK(!SplitModule::read(std::string(kHead) + ".func f()\n{\nret;\n}\n.alias g, f;\n"));
}

TEST_CASE("every kernel that nvcc makes is in the base or by itself, and both can be read") {
  std::size_t parts = 0;
  for (const auto& path : corpus("sm_90.ptx")) {
    INFO(path);
    std::vector<Module> units;
    units.push_back(parse_module(read_text(path)));
    const auto made = instrument(std::move(units), {});
    if (!made) {
      continue;
    }
    const auto divided = SplitModule::read(made->text);
    if (!divided) {
      continue;
    }
    CHECK(parse((*divided)->base()));
    for (const Kernel& kernel : made->kernels) {
      if (!(*divided)->has_part(kernel.name)) {
        CHECK((*divided)->whole().contains(kernel.name));
        continue;
      }
      ++parts;
      const auto part = parse((*divided)->part(kernel.name).text);
      REQUIRE(part);
      CHECK(part->find_function(kernel.name) != nullptr);
    }
  }
  CHECK(parts > 0);
}

}  // namespace barracuda::ptx

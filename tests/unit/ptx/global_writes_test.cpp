#include "ptx/analysis/global_writes.h"

#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "ptx/instrument.h"
#include "ptx_text.h"

namespace barracuda::ptx {
namespace {

// What is before the body, and what is behind the kernel's end.
GlobalWrites writes_of(const std::string& body, const std::string& before = "") {
  std::vector<Module> units;
  units.push_back(parse_module(
      ".version 8.0\n.target sm_90\n.address_size 64\n.global .align 4 .u32 total;\n" + before +
      ".visible .entry kernel(.param .u64 p, .param .u64 q, .param .align 8 .b8 s[24],\n"
      ".param .u32 n)\n{\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n.reg .f32 %f<3>;\n"
      ".reg .pred %p<2>;\n.shared .align 4 .b8 tile[64];\n.local .align 4 .b8 depot[64];\n"
      "ld.param.u64 %rd1, [p];\nld.param.u64 %rd2, [q];\nld.param.u32 %r1, [n];\n" +
      body + "ret;\n}\n"));
  auto module = instrument(std::move(units), {});
  INFO((module ? "" : module.error().to_string()));
  REQUIRE(module);
  REQUIRE(module->kernels.size() == 1);
  return module->kernels.front().writes;
}

using Words = std::vector<ArgumentWord>;

bool writes_only(const GlobalWrites& writes, const Words& words) {
  return writes.is_known && !writes.variables && writes.arguments == words;
}

TEST_CASE("a store is followed back to the pointer that it was computed from") {
  CHECK(writes_only(writes_of("cvta.to.global.u64 %rd3, %rd1;\nmul.wide.u32 %rd4, %r1, 4;\n"
                              "add.s64 %rd5, %rd3, %rd4;\nst.global.u32 [%rd5+8], %r1;\n"),
                    {{0, 0}}));
  CHECK(writes_only(writes_of("atom.global.add.u32 %r2, [%rd2], 1;\n"), {{1, 0}}));
  CHECK(writes_only(writes_of("red.global.add.u32 [%rd2], 1;\n"), {{1, 0}}));
  CHECK(writes_only(writes_of("st.u32 [%rd2], %r1;\n"), {{1, 0}}));
  CHECK(writes_only(writes_of("mad.wide.u32 %rd3, %r1, 4, %rd2;\nst.global.u32 [%rd3], 0;\n"),
                    {{1, 0}}));
}

TEST_CASE("what is only read is not written") {
  CHECK(
      writes_only(writes_of("ld.global.u32 %r2, [%rd1];\nst.global.u32 [%rd2], %r2;\n"), {{1, 0}}));
  CHECK(writes_only(writes_of("ld.global.u32 %r2, [%rd1];\n"), {}));
  CHECK(writes_only(writes_of("ld.volatile.global.u32 %r2, [%rd1];\nst.shared.u32 [tile], %r2;\n"),
                    {}));
}

TEST_CASE("what a kernel waits for, or lets begin, is no write of its own") {
  const std::string control =
      GENERATE("griddepcontrol.wait;\n", "griddepcontrol.launch_dependents;\n");
  CHECK(writes_only(writes_of("st.global.u32 [%rd1], %r1;\n" + control), {{0, 0}}));
}

TEST_CASE("an index that was loaded does not lead anywhere, however wide it is") {
  CHECK(writes_only(writes_of("ld.global.u32 %r2, [%rd1];\nmul.wide.u32 %rd3, %r2, 4;\n"
                              "add.s64 %rd4, %rd2, %rd3;\nst.global.u32 [%rd4], 0;\n"),
                    {{1, 0}}));
  CHECK(writes_only(writes_of("ld.global.u64 %rd3, [%rd1];\nshl.b64 %rd4, %rd3, 2;\n"
                              "add.s64 %rd5, %rd2, %rd4;\nst.global.u32 [%rd5], 0;\n"),
                    {{1, 0}}));
}

TEST_CASE("beside a word that was loaded an argument is the address") {
  const std::string load = "ld.global.u64 %rd3, [%rd1];\n";
  const auto is_of_q = [&](const std::string& sum) {
    const GlobalWrites writes = writes_of(load + sum + "st.global.u8 [%rd4], %r1;\n");
    return writes_only(writes, {{1, 0}}) && writes.has_loaded_index;
  };
  CHECK(is_of_q("add.s64 %rd4, %rd2, %rd3;\n"));
  CHECK(is_of_q("add.s64 %rd4, %rd3, %rd2;\n"));
  CHECK(is_of_q("sub.s64 %rd4, %rd2, %rd3;\n"));
  CHECK(is_of_q("add.s64 %rd5, %rd3, 8;\nadd.s64 %rd6, %rd5, %rd2;\nadd.s64 %rd4, %rd6, 1;\n"));
  CHECK_FALSE(is_of_q("sub.s64 %rd4, %rd3, %rd2;\n"));
  CHECK_FALSE(is_of_q("add.s64 %rd4, %rd3, 8;\n"));
  CHECK_FALSE(is_of_q("add.s64 %rd4, %rd3, %rd3;\n"));
  CHECK_FALSE(is_of_q("min.s64 %rd4, %rd2, %rd3;\n"));
  CHECK(writes_of("add.s64 %rd4, %rd1, %rd2;\nst.global.u8 [%rd4], %r1;\n").arguments.size() == 2);
  CHECK_FALSE(writes_of("st.global.u8 [%rd1], %r1;\n").has_loaded_index);
}

TEST_CASE("a pointer that was loaded, or that nobody knows, makes all unknown") {
  const std::string body = GENERATE(
      as<std::string>{}, "ld.global.u64 %rd3, [%rd1];\nst.global.u32 [%rd3], 0;\n",
      "ld.global.u64 %rd3, [%rd1];\nadd.s64 %rd4, %rd3, 8;\nst.global.u32 [%rd4], 0;\n",
      "ld.global.v2.u64 {%rd3, %rd4}, [%rd1];\nst.global.u32 [%rd4], 0;\n",
      "mov.b64 %rd3, {%r1, %r2};\nst.global.u32 [%rd3], 0;\n", "st.global.u32 [4096], 0;\n",
      "st.global.u32 [%rd7], 0;\n", "atom.global.exch.b64 %rd3, [%rd1], 0;\nst.u32 [%rd3], 0;\n",
      "ld.shared.u64 %rd3, [tile];\nst.u32 [%rd3], 0;\n",
      "mov.u64 %rd3, p;\nmov.u64 %rd3, q;\nld.param.u64 %rd4, [%rd3];\nst.u32 [%rd4], 0;\n",
      "mov.u64 %rd3, s;\nld.param.u64 %rd4, [%rd3+20];\nst.u32 [%rd4], 0;\n");
  INFO(body);
  CHECK_FALSE(writes_of(body).is_known);
}

TEST_CASE("of two pointers both are written, in whatever order the code stands") {
  CHECK(writes_only(writes_of("setp.eq.u32 %p1, %r1, 0;\nselp.b64 %rd3, %rd1, %rd2, %p1;\n"
                              "st.global.u32 [%rd3], 0;\n"),
                    {{0, 0}, {1, 0}}));
  CHECK(writes_only(writes_of("mov.u64 %rd3, %rd1;\n$again:\nst.global.u32 [%rd3], 0;\n"
                              "setp.eq.u32 %p1, %r1, 0;\nmov.u64 %rd3, %rd2;\n@%p1 bra $again;\n"),
                    {{0, 0}, {1, 0}}));
}

TEST_CASE("a pointer in a structure is known by its place") {
  CHECK(
      writes_only(writes_of("ld.param.u64 %rd3, [s+16];\nst.global.u32 [%rd3], 0;\n"), {{2, 16}}));
  CHECK(writes_only(writes_of("ld.param.v2.u64 {%rd3, %rd4}, [s+8];\nst.global.u32 [%rd4], 0;\n"),
                    {{2, 16}}));
  // By the structure's address, as nvcc reads what is passed by value.
  CHECK(
      writes_only(writes_of("mov.b64 %rd3, s;\nld.param.u64 %rd4, [%rd3+16];\nst.u32 [%rd4], 0;\n"),
                  {{2, 16}}));
  CHECK(writes_only(writes_of("mov.b64 %rd3, p;\nld.param.u64 %rd4, [%rd3];\nst.u32 [%rd4], 0;\n"),
                    {{0, 0}}));
  CHECK_FALSE(writes_of("ld.param.u32 %r3, [s];\nld.param.u32 %r4, [s+4];\n"
                        "mov.b64 %rd3, {%r3, %r4};\nst.global.u32 [%rd3], 0;\n")
                  .is_known);
}

TEST_CASE("memory that is the thread's or the block's own is none of the grid's") {
  CHECK(writes_only(writes_of("mov.u64 %rd3, depot;\ncvta.local.u64 %rd4, %rd3;\n"
                              "st.u32 [%rd4], 0;\nst.local.u32 [%rd3], 0;\n"),
                    {}));
  CHECK(writes_only(writes_of("mov.u32 %r2, tile;\ncvt.u64.u32 %rd3, %r2;\n"
                              "cvta.shared.u64 %rd4, %rd3;\nst.u32 [%rd4], 0;\n"),
                    {}));
  CHECK(writes_only(writes_of("mov.u64 %rd3, depot;\ncvta.local.u64 %rd4, %rd3;\n"
                              "selp.b64 %rd5, %rd4, %rd2, %p1;\nst.u32 [%rd5], 0;\n"),
                    {{1, 0}}));
}

TEST_CASE("where the blocks of a cooperative launch meet is the driver's own memory") {
  const std::string address =
      "mov.u32 %r2, %envreg2;\ncvt.u64.u32 %rd3, %r2;\nmov.u32 %r3, %envreg1;\n"
      "cvt.u64.u32 %rd4, %r3;\nbfi.b64 %rd5, %rd4, %rd3, 32, 32;\nadd.s64 %rd6, %rd5, 4;\n";
  CHECK(writes_only(writes_of(address + "atom.add.release.gpu.u32 %r4, [%rd6], 1;\n"), {}));
  CHECK(writes_only(writes_of(address + "st.u32 [%rd6], %r1;\nst.global.u32 [%rd1], %r1;\n"),
                    {{0, 0}}));
  CHECK_FALSE(writes_of("mov.u32 %r2, %envreg2;\ncvt.u64.u32 %rd3, %r2;\n"
                        "bfi.b64 %rd5, %rd4, %rd3, 32, 32;\nst.u32 [%rd5], %r1;\n")
                  .is_known);
}

TEST_CASE("a variable of the module is written by its name or its address") {
  const GlobalWrites by_name = writes_of("atom.global.add.u32 %r2, [total], 1;\n");
  CHECK((by_name.is_known && by_name.variables && by_name.arguments.empty()));
  const GlobalWrites by_address =
      writes_of("mov.u64 %rd3, total;\nst.global.u32 [%rd3], 1;\nst.global.u32 [%rd1], 1;\n");
  CHECK((by_address.is_known && by_address.variables && by_address.arguments == Words{{0, 0}}));
}

TEST_CASE("functions that are called write as well") {
  const std::string call = "{\n.param .b64 a;\nst.param.b64 [a], %rd1;\ncall f, (a);\n}\n";
  CHECK_FALSE(writes_of(call,
                        ".func f(.param .b64 a)\n{\n.reg .b64 %rd<2>;\n"
                        "ld.param.u64 %rd1, [a];\nst.global.u32 [%rd1], 0;\nret;\n}\n")
                  .is_known);
  CHECK(writes_only(writes_of(call + "st.global.u32 [%rd2], 0;\n",
                              ".func f(.param .b64 a)\n{\n.reg .b64 %rd<2>;\n.reg .b32 %r<2>;\n"
                              "ld.param.u64 %rd1, [a];\nld.global.u32 %r1, [%rd1];\nret;\n}\n"),
                    {{1, 0}}));
}

TEST_CASE("what is not known of a call, or of an instruction, is not known of what is written") {
  CHECK_FALSE(writes_of("{\n.param .b64 a;\nst.param.b64 [a], %rd1;\ncall free, (a);\n}\n",
                        ".extern .func free(.param .b64 a);\n")
                  .is_known);
  CHECK_FALSE(writes_of("{\n.param .b64 a;\nst.param.b64 [a], %rd1;\n"
                        "proto: .callprototype _ (.param .b64 _);\ncall %rd2, (a), proto;\n}\n")
                  .is_known);
  CHECK_FALSE(writes_of("frobnicate.global.u32 [%rd1], %r1;\n").is_known);
  CHECK_FALSE(
      writes_of("cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 16;\n").is_known);
  CHECK(writes_only(writes_of("cp.async.ca.shared.global [tile], [%rd1], 4;\n"
                              "cp.async.wait_all;\n"),
                    {}));
}

TEST_CASE("who reads a texture or a surface writes nothing") {
  CHECK(writes_only(writes_of("tex.1d.v4.f32.s32 {%r1, %r1, %r1, %r1}, [%rd1, {%r1}];\n"
                              "suld.b.1d.b32.trap %r1, [%rd1, {%r1}];\n"),
                    {}));
  CHECK_FALSE(writes_of("sust.b.1d.b32.trap [%rd1, {%r1}], %r1;\n").is_known);
  CHECK_FALSE(writes_of("sured.b.add.1d.u32.trap [%rd1, {%r1}], %r1;\n").is_known);
}

TEST_CASE("printing is no write", "[calls]") {
  CHECK(writes_only(
      writes_of("{\n.param .b64 a;\n.param .b64 b;\n.param .b32 c;\nst.param.b64 [a], 0;\n"
                "st.param.b64 [b], 0;\ncall (c), vprintf, (a, b);\n}\nst.global.u32 [%rd1], 0;\n",
                ".extern .func (.param .b32 c) vprintf(.param .b64 a, .param .b64 b);\n"),
      {{0, 0}}));
}

}  // namespace
}  // namespace barracuda::ptx

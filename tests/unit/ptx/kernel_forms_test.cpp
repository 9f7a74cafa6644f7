#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "ptx/instrument.h"
#include "ptx/parse.h"
#include "ptx_text.h"

namespace barracuda::ptx {
namespace {

InstrumentedModule instrumented(const std::string& body, InstrumentOptions options) {
  std::vector<Module> units;
  units.push_back(
      parse_module(".version 9.0\n.target sm_90\n.address_size 64\n.global .u32 table[64];\n"
                   ".const .u32 steps = 1;\n.extern .shared .align 16 .b8 dynamic[];\n"
                   ".func helper() { ret; }\n"
                   ".visible .entry kernel(.param .u64 p, .param .u64 q, .param .u32 n) {\n"
                   ".shared .align 16 .b8 tile[64];\n"
                   ".reg .pred %p<3>;\n.reg .u32 %r<9>;\n.reg .f32 %f<9>;\n.reg .u64 %rd<9>;\n"
                   "ld.param.u64 %rd1, [p];\nld.param.u64 %rd2, [q];\nld.param.u32 %r1, [n];\n"
                   "mov.u32 %r2, %tid.x;\nmul.wide.u32 %rd3, %r2, 4;\nadd.s64 %rd4, %rd1, %rd3;\n"
                   "add.s64 %rd5, %rd2, %rd3;\nsetp.ge.u32 %p1, %r2, %r1;\n" +
                   body + "done:\nret;\n}\n"));
  options.has_shortcuts = true;
  options.first_site = wire::SiteId{7};
  auto module = instrument(std::move(units), options);
  INFO((module ? "" : module.error().to_string()));
  REQUIRE(module);
  return std::move(*module);
}

std::string guarded(const std::string& body, InstrumentOptions options = {}) {
  return instrumented(body, options).kernels.front().guarded;
}

std::string plain(const std::string& body, InstrumentOptions options = {}) {
  return instrumented(body, options).kernels.front().plain;
}

const std::string kCopy =
    "@%p1 bra done;\nld.global.f32 %f1, [%rd5];\nst.global.f32 [%rd4+8], %f1;\n";

}  // namespace

TEST_CASE("a kernel of plain accesses through its arguments has a guarded form") {
  const InstrumentedModule module = instrumented(kCopy, {});
  const Kernel& kernel = module.kernels.front();
  Module form = parse_module(kernel.guarded);
  INFO(kernel.guarded);
  REQUIRE(form.functions.size() == 1);
  CHECK(form.functions.front().name == "kernel");
  CHECK(form.functions.front().parameters.size() == 4);
  CHECK(count(kernel.guarded, "call") == 0);
  CHECK(count(kernel.guarded, "barrier.sync") == 0);
  // Each access notes its own site, where it is in no range.
  REQUIRE(kernel.accesses.accesses.size() == 2);
  CHECK(count(kernel.guarded, "st.volatile.global.u32") == 2);
  for (const GlobalAccess& access : kernel.accesses.accesses) {
    CHECK(count(kernel.guarded,
                "[%__barracuda_a], " + std::to_string(access.first_site + 1) + ";") == 1);
  }
  // What the program does is all there, once.
  CHECK(count(kernel.guarded, "ld.global.f32 %f1, [%rd5];") == 1);
  CHECK(count(kernel.guarded, "st.global.f32 [%rd4+8], %f1;") == 1);
  CHECK(kernel.guarded.find("add.s64 %__barracuda_a, %__barracuda_a, 8;") != std::string::npos);
}

TEST_CASE("an access that a predicate turns off is not looked at") {
  const std::string text = guarded("@!%p1 st.global.u32 [%rd4], 0;\n");
  const std::size_t skip = text.find("@%p1 bra $__barracuda_skip");
  REQUIRE(skip != std::string::npos);
  CHECK(skip < text.find("st.volatile.global.u32"));
}

TEST_CASE("lines are left out, as their files are") {
  CHECK(guarded(".loc 1 3 0\n" + kCopy).find(".loc") == std::string::npos);
}

TEST_CASE("what orders threads, what is shared, called or named has no guarded form") {
  const std::string more = GENERATE(
      as<std::string>{}, "bar.sync 0;\n", "membar.gl;\n", "red.global.add.u32 [%rd4], 1;\n",
      "st.volatile.global.u32 [%rd4], 1;\n", "st.shared.u32 [tile], 0;\n", "call helper;\n",
      "mov.u64 %rd6, table;\nld.global.u32 %r3, [%rd6];\n",
      "ld.global.u64 %rd6, [%rd5];\nld.global.u32 %r3, [%rd6];\nst.global.u32 [%rd4], %r3;\n");
  INFO(more);
  CHECK(guarded(kCopy + more).empty());
}

TEST_CASE("blocks that a launch numbers anew, and launches that leave nothing out, have none") {
  CHECK(guarded(kCopy, {.renumbers_blocks = true}).empty());
  CHECK(guarded("mov.u32 %r3, 1;\n").empty());
}

const std::string kTile =
    "shl.b32 %r3, %r2, 2;\nmov.u32 %r4, tile;\nadd.s32 %r5, %r4, %r3;\n"
    "ld.global.u32 %r6, [%rd5];\nst.shared.u32 [%r5], %r6;\nbar.sync 0;\n@%p1 bra done;\n"
    "ld.shared.u32 %r7, [%r5+4];\nst.global.u32 [%rd4], %r7;\n";

TEST_CASE("a kernel that does the same each time has a plain form") {
  const std::string more = GENERATE(
      as<std::string>{}, "", "red.global.add.u32 [%rd4], %r7;\n", "bar.warp.sync -1;\n",
      "setp.eq.u32 %p2, %r6, 0;\nselp.b32 %r7, 1, 2, %p2;\nst.shared.u32 [%r5], %r7;\n",
      "@%p1 st.global.u32 [%rd4+4], %r6;\n",
      // Lanes that make nothing of a read, by a predicate that is the same each time.
      "ld.global.u32 %r0, [%rd5+4];\nselp.b32 %r8, %r0, 0, %p1;\nst.global.u32 [%rd4+4], %r8;\n");
  INFO(more);
  const std::string text = plain(kTile + more);
  REQUIRE_FALSE(text.empty());
  CHECK(parse_module(text).functions.front().parameters.size() == 4);
  CHECK(text.find("__barracuda_a") == std::string::npos);
  CHECK(count(text, "bar.sync 0;") == 1);
}

TEST_CASE("a kernel whose accesses, ways or barriers depend on memory or on time has none") {
  const std::string more = GENERATE(
      as<std::string>{},
      // An address, also by way of what a predicate chose.
      "add.s32 %r7, %r5, %r6;\nst.shared.u32 [%r7], 0;\n",
      "setp.eq.u32 %p2, %r6, 0;\nselp.b32 %r7, %r4, %r5, %p2;\nst.shared.u32 [%r7], 0;\n",
      "setp.eq.u32 %p2, %r6, 0;\nmov.u32 %r7, %r4;\n@%p2 mov.u32 %r7, %r5;\n"
      "st.shared.u32 [%r7], 0;\n",
      "atom.shared.add.u32 %r7, [tile], 1;\nadd.s32 %r8, %r5, %r7;\nst.shared.u32 [%r8], 0;\n",
      "shfl.sync.idx.b32 %r7, %r5, 0, 31, -1;\nst.shared.u32 [%r7], 0;\n",
      "mov.u32 %r7, %clock;\nadd.s32 %r8, %r5, %r7;\nst.shared.u32 [%r8], 0;\n",
      "mov.u32 %r7, %smid;\nadd.s32 %r8, %r5, %r7;\nst.shared.u32 [%r8], 0;\n",
      "ld.const.u32 %r7, [steps];\nadd.s32 %r8, %r5, %r7;\nst.shared.u32 [%r8], 0;\n",
      // Whether it is accessed, and which way is taken.
      "setp.eq.u32 %p2, %r6, 0;\n@%p2 st.shared.u32 [%r5], 0;\n",
      "setp.eq.u32 %p2, %r6, 0;\n@%p2 bra done;\nst.shared.u32 [%r5], 0;\n",
      "setp.eq.u32 %p2, %r6, 0;\n@%p2 exit;\nst.shared.u32 [%r5], 0;\n",
      "again:\nld.volatile.global.u32 %r7, [%rd5];\nsetp.eq.u32 %p2, %r7, 0;\n@%p2 bra again;\n",
      // Which lanes make something of a read.
      "setp.eq.u32 %p2, %r6, 0;\nld.global.u32 %r0, [%rd5+4];\nselp.b32 %r8, %r0, 0, %p2;\n"
      "st.global.u32 [%rd4+4], %r8;\n",
      // Barriers, and what orders in other ways.
      "bar.sync %r6;\n", "activemask.b32 %r7;\nbar.warp.sync %r7;\n",
      "setp.eq.u32 %p2, %r6, 0;\nbar.red.or.pred %p2, 0, %p2;\n@%p2 bra done;\n"
      "st.shared.u32 [%r5], 0;\n",
      "membar.gl;\n", "fence.acq_rel.gpu;\n", "st.release.gpu.global.u32 [%rd4], 1;\n",
      // What it calls or names.
      "call helper;\n", "mov.u64 %rd6, table;\nld.global.u32 %r7, [%rd6];\n");
  INFO(more);
  CHECK(plain(kTile + more).empty());
}

TEST_CASE("a form declares the shared memory of its module that it names") {
  const std::string text = plain(kTile + "st.shared.u32 [dynamic], %r6;\n");
  CHECK(count(text, ".extern .shared .align 16 .b8 dynamic[];") == 1);
  CHECK(count(plain(kTile), "dynamic") == 0);
}

}  // namespace barracuda::ptx

// Loops that do nothing but wait (ptx/passes/waiting_loops.cpp).
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "ptx/instrument.h"
#include "ptx/parse.h"

namespace barracuda::ptx {
namespace {

std::string instrumented(std::string_view body, InstrumentOptions options = {}) {
  std::vector<Module> units;
  auto parsed = parse(
      ".version 8.0\n.target sm_90\n.address_size 64\n"
      ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<9>;\n.reg .b64 %rd<4>;\n.reg .pred "
      "%p<5>;\nld.param.u64 %rd1, [p];\n" +
      std::string(body) + "\nret;\n}\n");
  REQUIRE(parsed);
  units.push_back(std::move(*parsed));
  auto module = instrument(std::move(units), options);
  REQUIRE(module);
  REQUIRE(parse(std::string(module->text)));
  return std::move(module->text);
}

// Whether the load of this loop is logged in each of its turns.
bool logs_each_turn(std::string_view loop, InstrumentOptions options = {}) {
  const std::string text = instrumented(loop, options);
  const std::size_t hook = text.find("call __barracuda_acquire"), back = text.find("bra WAIT;");
  REQUIRE(hook != text.npos);
  REQUIRE(back != text.npos);
  return hook < back;
}

const std::string kTest = "setp.eq.s32 %p1, %r1, 0;\n@%p1 bra WAIT;\n";

}  // namespace

TEST_CASE("a loop that waits is logged when it is over, with its fences in their order") {
  const std::string text =
      instrumented("WAIT:\nmembar.cta;\nld.volatile.global.u32 %r1, [%rd1];\n" + kTest);
  const std::size_t back = text.find("bra WAIT;"),
                    fence = text.find("call __barracuda_optional_event", back),
                    load = text.find("call __barracuda_acquire");
  REQUIRE(fence != text.npos);
  CHECK(text.find("membar.cta;") < back);
  CHECK(back < fence);
  CHECK(fence < load);
  CHECK(text.find("call __barracuda_optional_event", text.find("WAIT:")) == fence);
  CHECK_FALSE(
      logs_each_turn("WAIT:\nld.acquire.gpu.global.u32 %r1, [%rd1];\nnanosleep.u32 40;\n" + kTest));
  CHECK_FALSE(logs_each_turn("WAIT:\nld.relaxed.gpu.global.u32 %r1, [%rd1];\nfence.acq_rel.gpu;\n" +
                             kTest));
}

TEST_CASE("a loop that waits by an atomic which changes nothing is logged when it is over") {
  const auto logs = [](const std::string& atomic) {
    const std::string text = instrumented("WAIT:\n" + atomic + kTest);
    const std::size_t back = text.find("bra WAIT;"), begin = text.find("call", back);
    REQUIRE(text.find("__barracuda_release_begin,") != text.npos);
    CHECK((text.find("__barracuda_release_begin,") < back) ==
          (text.find("__barracuda_release_end,") < back));
    return text.find("__barracuda_release_begin,") < back || begin == text.npos;
  };
  CHECK_FALSE(logs("atom.global.add.u32 %r1, [%rd1], 0;\n"));
  CHECK_FALSE(logs("atom.global.or.b32 %r1, [%rd1], 0;\n"));
  CHECK_FALSE(logs("atom.acquire.gpu.global.cas.b32 %r1, [%rd1], 7, 7;\n"));
  CHECK(logs("atom.global.add.u32 %r1, [%rd1], 1;\n"));
  CHECK(logs("atom.global.add.u32 %r1, [%rd1], %r2;\n"));
  CHECK(logs("atom.global.and.b32 %r1, [%rd1], 0;\n"));
  CHECK(logs("atom.global.exch.b32 %r1, [%rd1], 0;\n"));
  CHECK(logs("atom.global.cas.b32 %r1, [%rd1], 0, 1;\n"));
  CHECK(logs("@%p2 atom.global.add.u32 %r1, [%rd1], 0;\n"));
}

TEST_CASE("a compare-and-swap that is tried until it succeeds is tried where it may succeed") {
  const auto looks_first = [](const std::string& body, InstrumentOptions options = {}) {
    const std::string module = instrumented(body, options);
    const std::string text = module.substr(module.find(".entry k("));
    const std::size_t look = text.find("ld.volatile"), swap = text.find("atom.", look),
                      hook = text.find("__barracuda_release_begin", look),
                      end = text.find("$__barracuda_look", swap);
    CHECK((look == text.npos || (look < hook && hook < swap && swap < end && end != text.npos)));
    return look != text.npos;
  };
  const std::string wait = "WAIT:\n", cas = "atom.global.cas.b32 %r1, [%rd1], 0, 1;\n",
                    back = "@%p1 bra WAIT;\n", other = "mov.u32 %r3, 0;\n";
  const std::string test = "setp.ne.s32 %p1, %r1, 0;\n";
  CHECK(looks_first(wait + cas + test + back));
  CHECK(looks_first(wait + cas + "setp.eq.s32 %p1, %r1, 0;\n@!%p1 bra WAIT;\n"));
  CHECK(looks_first(other + wait +
                    "nanosleep.u32 40;\natom.global.cas.b64 %rd2, [%rd1], %rd3, 1;\n"
                    "setp.ne.s64 %p1, %rd2, %rd3;\n" +
                    back));
  CHECK(looks_first(wait + other + "atom.cas.b32 %r1, [%rd1], %r3, 1;\n" + test + back));
  // In several blocks, as nvcc has a loop that ends where what the lock guards was done.
  const std::string guarded = "st.global.u32 [%rd2], 0;\natom.global.exch.b32 %r4, [%rd1], 0;\n";
  const std::string both = "setp.eq.s32 %p1, %r1, 0;\nsetp.ne.s32 %p3, %r1, 0;\n@%p3 bra ON;\n";
  CHECK(looks_first(wait + cas + both + guarded + "ON:\nnot.pred %p4, %p1;\n@%p4 bra WAIT;\n"));
  CHECK(looks_first(wait + cas + test + "@!%p1 bra ON;\nadd.u32 %r3, %r3, %r1;\nbra WAIT;\nON:\n"));
  CHECK(looks_first(wait +
                    "add.u32 %r4, %r3, 1;\natom.global.cas.b32 %r1, [%rd1], %r3, %r4;\n"
                    "setp.ne.s32 %p1, %r3, %r1;\nmov.u32 %r3, %r1;\n" +
                    back));
  CHECK_FALSE(
      looks_first(wait + cas + both + guarded + "ON:\nnot.pred %p4, %p2;\n@%p4 bra WAIT;\n"));
  CHECK_FALSE(looks_first(wait + cas + both + guarded + "ON:\n" + back));  // %p1 is false there
  CHECK_FALSE(looks_first(wait + cas + both + guarded + "ON:\nmembar.gl;\nbra WAIT;\n"));
  CHECK_FALSE(looks_first(wait +
                          "atom.global.cas.b32 %r1, [%rd1], %r3, %r4;\nmov.u32 %r3, %r1;\n"
                          "setp.ne.s32 %p1, %r1, %r3;\n" +
                          back));
  CHECK_FALSE(looks_first(wait + cas + test + back, {.for_paper = true}));
  // It may go on though it failed, or does something else in a turn.
  CHECK_FALSE(looks_first(wait + cas + "setp.ne.s32 %p1, %r1, 1;\n" + back));
  CHECK_FALSE(looks_first(wait + cas + "setp.eq.s32 %p1, %r1, 0;\n" + back));
  CHECK_FALSE(looks_first(wait + "atom.global.cas.b32 %r1, [%rd1], %r3, 1;\n" +
                          "setp.ne.f32 %p1, %r1, %r3;\n" + back));
  CHECK_FALSE(looks_first(wait + cas + "setp.ne.s32 %p2, %r1, 0;\n" + back));
  CHECK_FALSE(looks_first(wait + cas + test + "and.pred %p1, %p1, %p2;\n" + back));
  CHECK_FALSE(looks_first(wait + cas + test + "st.global.u32 [%rd1], 0;\n" + back));
  CHECK_FALSE(looks_first(wait + cas + "mov.u32 %r1, %r2;\n" + test + back));
  CHECK_FALSE(looks_first(wait + "@%p2 " + cas + test + back));
  CHECK_FALSE(looks_first(wait + "atom.global.exch.b32 %r1, [%rd1], 1;\n" + test + back));
  CHECK_FALSE(looks_first(cas + test + "@%p1 bra ON;\nON:\n"));
}

TEST_CASE("one that does more is logged in each turn") {
  const std::string load = "ld.volatile.global.u32 %r1, [%rd1];\n";
  CHECK(logs_each_turn("WAIT:\n" + load + "add.u64 %rd1, %rd1, 4;\n" + kTest));  // another place
  CHECK(logs_each_turn("WAIT:\n" + load + "st.global.u32 [%rd2], %r2;\n" + kTest));
  CHECK(logs_each_turn("WAIT:\n" + load + "ld.volatile.global.u32 %r2, [%rd2];\n" + kTest));
  CHECK(logs_each_turn("WAIT:\n" + load + "atom.global.add.u32 %r2, [%rd2], 1;\n" + kTest));
  CHECK(logs_each_turn("WAIT:\n" + load + "bar.warp.sync -1;\n" + kTest));
  CHECK(logs_each_turn("WAIT:\n@%p2 " + load + kTest));
  CHECK(logs_each_turn("WAIT:\n" + load + "setp.eq.s32 %p1, %r1, 0;\nmov.u32 %r1, 1;\n" +
                       "@%p1 bra WAIT;\n"));
}

TEST_CASE("the paper's model has a record of each turn") {
  CHECK(
      logs_each_turn("WAIT:\nld.volatile.global.u32 %r1, [%rd1];\n" + kTest, {.for_paper = true}));
}

}  // namespace barracuda::ptx

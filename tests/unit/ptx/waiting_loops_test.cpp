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
                    fence = text.find("call __barracuda_event", back),
                    load = text.find("call __barracuda_acquire");
  REQUIRE(fence != text.npos);
  CHECK(text.find("membar.cta;") < back);
  CHECK(back < fence);
  CHECK(fence < load);
  CHECK(text.find("call __barracuda_event", text.find("WAIT:")) == fence);
  CHECK_FALSE(
      logs_each_turn("WAIT:\nld.acquire.gpu.global.u32 %r1, [%rd1];\nnanosleep.u32 40;\n" + kTest));
  CHECK_FALSE(logs_each_turn("WAIT:\nld.relaxed.gpu.global.u32 %r1, [%rd1];\nfence.acq_rel.gpu;\n" +
                             kTest));
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

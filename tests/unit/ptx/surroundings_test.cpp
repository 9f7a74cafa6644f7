#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "ptx/instrument.h"
#include "ptx/loop_number.h"
#include "ptx/parse.h"
#include "ptx_text.h"

namespace barracuda::ptx {
namespace {

InstrumentedModule instrument_body(const std::string& body) {
  std::vector<Module> units;
  units.push_back(parse_module(
      kernel_text(".reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>;\n" + body + " ret;")));
  auto instrumented = instrument(std::move(units), {});
  REQUIRE(instrumented);
  return std::move(*instrumented);
}

const Site& site_of(const InstrumentedModule& module, const std::string& instruction) {
  const auto found = std::ranges::find(module.sites, instruction, &Site::instruction);
  REQUIRE(found != module.sites.end());
  return *found;
}

bool is_numbered(const std::string& body) {
  return instrument_body(body).kernels[0].numbered;
}

}  // namespace

TEST_CASE("an access knows the loops that it stands in, the outermost first") {
  const InstrumentedModule module = instrument_body(
      "st.global.u8 [%rd1], %r1;\n"
      "outer: st.global.u16 [%rd1], %r1;\n"
      "inner: st.global.u32 [%rd1], %r1; add.s32 %r1, %r1, 1; setp.lt.s32 %p1, %r1, 9;\n"
      "@%p1 bra inner;\n"
      "setp.lt.s32 %p2, %r1, %r2; @%p2 bra outer;\n"
      "st.global.u64 [%rd1], %rd2;");
  CHECK(site_of(module, "st.global.u8").loops.empty());
  CHECK(site_of(module, "st.global.u64").loops.empty());
  const std::vector<std::uint32_t>& outer = site_of(module, "st.global.u16").loops;
  const std::vector<std::uint32_t>& inner = site_of(module, "st.global.u32").loops;
  REQUIRE(outer.size() == 1);
  REQUIRE(inner.size() == 2);
  CHECK(inner[0] == outer[0]);
  CHECK(inner[1] != outer[0]);
}

TEST_CASE("a barrier knows whether some rounds of its innermost loop go past it") {
  const auto is_skipped = [](const std::string& body) {
    return site_of(instrument_body(body + "add.s32 %r1, %r1, 1; setp.lt.s32 %p1, %r1, 9;\n"
                                          "@%p1 bra $round;\n"),
                   "bar.sync")
        .is_skipped;
  };
  CHECK_FALSE(is_skipped("$round: bar.sync 0;\n"));
  CHECK(is_skipped("$round: @%p2 bra $on; bar.sync 0;\n$on: "));
  CHECK_FALSE(is_skipped("bar.sync 0;\n$round: "));
  CHECK_FALSE(is_skipped("$round: bar.sync 0; @%p2 bra $on; st.global.u32 [%rd1], %r1;\n$on: "));
  // Each round of the inner loop comes by, though not each of the outer one.
  CHECK_FALSE(is_skipped("$round: @%p2 bra $on;\n$inner: bar.sync 0; @%p3 bra $inner;\n$on: "));
  CHECK(is_skipped("$round: @%p2 bra $round; bar.sync 0;\n"));
}

TEST_CASE("an access that a thread's number decides about is divergent, beside it is none") {
  const InstrumentedModule module = instrument_body(
      "st.global.u8 [%rd1], %r1;\n"
      "mov.u32 %r2, %tid.x; setp.lt.s32 %p1, %r2, 9; @%p1 bra some; bra done;\n"
      "some: st.global.u32 [%rd1], %r1;\n"
      "done: st.global.u16 [%rd1], %r1;");
  CHECK_FALSE(site_of(module, "st.global.u8").is_divergent);
  CHECK(site_of(module, "st.global.u32").is_divergent);
  CHECK_FALSE(site_of(module, "st.global.u16").is_divergent);
}

TEST_CASE(
    "a loop that a vote or a thread's number ends is uneven, one that a parameter ends is not") {
  const auto is_uneven_if = [](const std::string& condition) {
    const InstrumentedModule module =
        instrument_body("again: " + condition + " st.global.u32 [%rd1], %r1; @%p1 bra again;");
    const std::vector<std::uint32_t>& loops = site_of(module, "st.global.u32").loops;
    REQUIRE(loops.size() == 1);
    return is_uneven(loops.front());
  };
  CHECK_FALSE(is_uneven_if("add.s32 %r1, %r1, 1; setp.lt.s32 %p1, %r1, 9;"));
  CHECK(is_uneven_if("vote.sync.ballot.b32 %r2, %p2, 0xffffffff; setp.ne.s32 %p1, %r2, 0;"));
  CHECK(is_uneven_if("mov.u32 %r2, %tid.x; add.s32 %r1, %r1, %r2; setp.lt.s32 %p1, %r1, 9;"));
}

TEST_CASE("a kernel that waits in a loop for a strong or volatile value synchronises") {
  for (const std::string load :
       {"ld.volatile.global.u32", "ld.relaxed.gpu.global.u32", "ld.volatile.shared.u32"}) {
    const std::string address = load.find("shared") != load.npos ? "[%r5]" : "[%rd1]";
    CHECK(is_numbered("again: " + load + " %r1, " + address +
                      "; setp.eq.s32 %p1, %r1, 0; @%p1 bra again;"));
  }
  CHECK(
      is_numbered("outer: ld.volatile.global.u32 %r1, [%rd1]; setp.eq.s32 %p1, %r1, 0;\n"
                  "@%p1 bra outer; add.s32 %r2, %r2, 1; setp.lt.s32 %p2, %r2, 9;\n"
                  "@%p2 bra outer;"));
  CHECK_FALSE(
      is_numbered("again: ld.global.u32 %r1, [%rd1]; setp.eq.s32 %p1, %r1, 0;\n"
                  "@%p1 bra again;"));
  CHECK_FALSE(
      is_numbered("ld.volatile.global.u32 %r1, [%rd1]; setp.eq.s32 %p1, %r1, 0;\n"
                  "@%p1 bra done; st.global.u32 [%rd1], %r2; done:"));
}

TEST_CASE("a loop whose end another value decides waits for nobody, whatever it loads") {
  CHECK_FALSE(
      is_numbered("again: ld.volatile.global.u32 %r1, [%rd1]; add.s32 %r2, %r2, %r1;\n"
                  "add.s32 %r3, %r3, 1; setp.lt.s32 %p1, %r3, 9; @%p1 bra again;\n"
                  "st.global.u32 [%rd2], %r2;"));
  CHECK_FALSE(
      is_numbered("again: ld.volatile.global.u32 %r1, [%rd1]; setp.eq.s32 %p1, %r1, 0;\n"
                  "@%p1 bra next; add.s32 %r2, %r2, 1;\n"
                  "next: add.s32 %r3, %r3, 1; setp.lt.s32 %p2, %r3, 9; @%p2 bra again;\n"
                  "st.global.u32 [%rd2], %r2;"));
}

}  // namespace barracuda::ptx

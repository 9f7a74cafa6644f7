// Collectives of a warp in functions of their own (ptx/passes/warp_collectives.cpp).
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "ptx/instrument.h"
#include "ptx/parse.h"
#include "ptx_text.h"

namespace barracuda::ptx {
namespace {

std::string instrumented(std::string_view body) {
  std::vector<Module> units;
  auto parsed = parse(
      ".version 8.0\n.target sm_90\n.address_size 64\n"
      ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<9>;\n.reg .b64 %rd<4>;\n.reg .pred "
      "%p<5>;\nld.param.u64 %rd1, [p];\nst.global.u32 [%rd1], %r1;\n" +
      std::string(body) + "\nret;\n}\n");
  REQUIRE(parsed);
  units.push_back(std::move(*parsed));
  auto module = instrument(std::move(units), {});
  REQUIRE(module);
  REQUIRE(parse(std::string(module->text)));
  return std::move(module->text);
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != text.npos;
}

}  // namespace

TEST_CASE("a shuffle is a call, whose function all of its kind share") {
  const std::string text = instrumented(
      "shfl.sync.down.b32 %r1, %r2, 16, 31, %r3;\nshfl.sync.down.b32 %r4, %r1, %r5, 31, -1;");
  CHECK(count(text, "shfl.sync.down.b32") == 1);
  CHECK(count(text, ".func (.param .align 8 .b8 result[8]) __barracuda_shfl_sync_down_b32(") == 1);
  CHECK(count(text, "call (__barracuda_result), __barracuda_shfl_sync_down_b32, ") == 2);
  CHECK(has(text, "st.param.b32 [__barracuda_p3], %r3;"));
  CHECK(has(text, "ld.param.b32 %r1, [__barracuda_result];"));
  CHECK(has(text, "ld.param.b32 %r4, [__barracuda_result];"));
}

TEST_CASE("one with a predicate as second result has a function of its own") {
  const std::string text = instrumented(
      "shfl.sync.up.b32 %r1|%p1, %r2, 1, 0, -1;\nshfl.sync.up.b32 %r1, %r2, 1, 0, -1;\n"
      "elect.sync _|%p2, -1;");
  CHECK(has(text, "shfl.sync.up.b32 %v|%p, %a0, %a1, %a2, %a3;"));
  CHECK(has(text, "shfl.sync.up.b32 %v, %a0, %a1, %a2, %a3;"));
  CHECK(has(text, "setp.ne.b32 %p1, %__barracuda_v, 0;"));
  CHECK(has(text, "elect.sync %v|%p, %a0;"));
  CHECK(has(text, "setp.ne.b32 %p2, %__barracuda_v, 0;"));
  CHECK_FALSE(has(text, "ld.param.b32 _"));
}

TEST_CASE("votes take a predicate, and one is negated by the caller") {
  const std::string text =
      instrumented("vote.sync.any.pred %p1, !%p2, -1;\nvote.sync.ballot.b32 %r1, %p3, %r2;");
  CHECK(has(text, "selp.b32 %__barracuda_v, 0, 1, %p2;"));
  CHECK(has(text, "selp.b32 %__barracuda_v, 1, 0, %p3;"));
  CHECK(has(text, "vote.sync.any.pred %p, %q, %a1;"));
  CHECK(has(text, "vote.sync.ballot.b32 %v, %q, %a1;"));
  CHECK(has(text, "ld.param.b32 %r1, [__barracuda_result];"));
}

TEST_CASE("a match of 64 bits, and a reduction") {
  const std::string text =
      instrumented("match.all.sync.b64 %r1|%p1, %rd1, -1;\nredux.sync.min.s32 %r2, %r3, -1;");
  CHECK(has(text, "__barracuda_match_all_sync_b64_pair(.param .b64 a0, .param .b32 a1)"));
  CHECK(has(text, "st.param.b64 [__barracuda_p0], %rd1;"));
  CHECK(has(text, "redux.sync.min.s32 %v, %a0, %a1;"));
}

TEST_CASE("lanes that a guard leaves out go round the call") {
  const std::string text = instrumented("@!%p4 shfl.sync.idx.b32 %r1, %r2, 0, 31, %r3;");
  CHECK(has(text, "@%p4 bra $__barracuda_alone"));
  CHECK(has(instrumented("@%p4 shfl.sync.idx.b32 %r1, %r2, 0, 31, %r3;"),
            "@!%p4 bra $__barracuda_alone"));
}

TEST_CASE("so is the question that we ask at a barrier to which lanes may come apart") {
  const std::string store = "st.shared.u32 [8], %r1;\n";
  const std::string apart = instrumented(store + "barrier.sync 0;\n" + store);
  CHECK(has(apart, "call (__barracuda_result), __barracuda_any_at_barrier_0, "));
  CHECK(count(apart, "barrier.red.or.pred %p, 0, %p;") == 1);
  const std::string together = instrumented(store + "bar.sync 0;\n" + store);
  CHECK_FALSE(has(together, "any_at_barrier"));
}

TEST_CASE("what the pass does not know stays as it is") {
  CHECK(has(instrumented("vote.sync.ballot.b32 %r1, 1, -1;"), "vote.sync.ballot.b32 %r1, 1, -1;"));
  CHECK(has(instrumented("activemask.b32 %r1;"), "activemask.b32 %r1;"));
}

}  // namespace barracuda::ptx

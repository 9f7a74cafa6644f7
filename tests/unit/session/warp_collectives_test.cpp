#include "session/warp_collectives.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "ptx/instrument.h"
#include "ptx/parse.h"

namespace barracuda::session {
namespace {

bool has_collectives(std::string_view body, std::string_view before = "") {
  std::vector<ptx::Module> units;
  auto parsed = ptx::parse(".version 8.0\n.target sm_90\n.address_size 64\n" + std::string(before) +
                           ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<4>;\n.reg .b64 "
                           "%rd<4>;\n.reg .pred %p<3>;\n"
                           "ld.param.u64 %rd1, [p];\nst.global.u32 [%rd1], %r1;\n" +
                           std::string(body) + "ret;\n}\n");
  REQUIRE(parsed);
  units.push_back(std::move(*parsed));
  const auto module = ptx::instrument(std::move(units), {});
  REQUIRE(module);
  REQUIRE(module->text.find("match.") != std::string::npos);  // of the hooks
  CHECK(may_compile_fast(module->text) != has_warp_collectives(module->text));
  return has_warp_collectives(module->text);
}

}  // namespace

TEST_CASE("collectives of the hooks, and in functions of their own, are none of the program's") {
  CHECK_FALSE(has_collectives(""));
  CHECK_FALSE(has_collectives("bar.warp.sync -1;\n"));
  CHECK_FALSE(has_collectives("bar.red.or.pred %p1, 0, %p2;\n"));
  CHECK_FALSE(has_collectives("vote.sync.ballot.b32 %r1, %p1, -1;\n"));
  CHECK_FALSE(has_collectives("@%p1 shfl.sync.idx.b32 %r1|%p2, %r2, 0, 31, -1;\n"));
  CHECK_FALSE(has_collectives("match.any.sync.b32 %r1, %r2, -1;\n"));
  CHECK_FALSE(has_collectives("",
                              ".func helper() { .reg .b32 %r<3>; redux.sync.add.s32 %r1, %r2, -1; "
                              "ret; }\n"));
}

TEST_CASE("a source file is no collective, whatever its name ends in") {
  CHECK_FALSE(has_collectives("", ".file 1 \"/usr/include/cub/warp/warp_scan_shfl.cuh\"\n"));
  CHECK(has_warp_collectives(".visible .entry k() {\n{shfl.idx.b32 %r1, %r2, 0, 31;}\n}"));
}

TEST_CASE("what is left in the program's functions is not compiled fast") {
  CHECK(has_collectives("shfl.idx.b32 %r1, %r2, 0, 31;\n"));  // of old, without sync
  CHECK(has_collectives("vote.sync.ballot.b32 %r1, 1, -1;\n"));
}

TEST_CASE("a text without functions has only the program's") {
  CHECK(has_warp_collectives(".visible .entry k() { shfl.sync.idx.b32 %r1, %r2, 0, 31, -1; }"));
  CHECK_FALSE(has_warp_collectives(".visible .entry k() { ret; }"));
  CHECK_FALSE(may_compile_fast(".visible .entry k() { ret; }"));
}

}  // namespace barracuda::session

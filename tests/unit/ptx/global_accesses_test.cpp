#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "ptx/instrument.h"
#include "ptx_text.h"

namespace barracuda::ptx {
namespace {

InstrumentedModule instrumented(const std::string& body) {
  std::vector<Module> units;
  units.push_back(parse_module(
      ".version 8.0\n.target sm_90\n.address_size 64\n.global .align 4 .u32 total;\n"
      ".global .align 4 .b8 table[64];\n"
      ".visible .entry kernel(.param .u64 p, .param .u64 q, .param .align 8 .b8 s[24],\n"
      ".param .u32 n)\n{\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n.reg .pred %p<2>;\n"
      ".shared .align 4 .b8 tile[64];\nld.param.u64 %rd1, [p];\nld.param.u32 %r1, [n];\n"
      "mov.u32 %r2, %tid.x;\nmul.wide.u32 %rd2, %r2, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
      "setp.eq.u32 %p1, %r2, 0;\n" +
      body + "ret;\n}\n"));
  auto module =
      instrument(std::move(units), {.first_site = wire::SiteId{7}, .has_shortcuts = true});
  INFO((module ? "" : module.error().to_string()));
  REQUIRE(module);
  return std::move(*module);
}

GlobalAccesses accesses_of(const std::string& body) {
  return instrumented(body).kernels.front().accesses;
}

// Of the last access.
bool has_form(const std::string& body) {
  const GlobalAccesses all = accesses_of(body);
  REQUIRE_FALSE(all.accesses.empty());
  const bool is_known = all.accesses.back().form.has_value();
  CHECK((!is_known || *all.accesses.back().form < all.nodes.size()));
  return is_known;
}

const std::string kStore = "st.global.u32 [%rd4], 0;\n";

}  // namespace

TEST_CASE("an address that is computed from arguments and numbers of the thread is known") {
  const std::string body = GENERATE(
      as<std::string>{}, "mov.u64 %rd4, %rd3;\n", "add.s64 %rd4, %rd3, 16;\n",
      "cvta.to.global.u64 %rd4, %rd3;\n", "mad.wide.s32 %rd4, %r1, 8, %rd3;\n",
      "mad.lo.s64 %rd4, %rd2, %rd2, %rd3;\n", "neg.s64 %rd5, %rd2;\nsub.s64 %rd4, %rd1, %rd5;\n",
      "cvt.s64.s32 %rd5, %r1;\nadd.s64 %rd4, %rd3, %rd5;\n",
      "cvt.u32.u64 %r3, %rd2;\ncvt.u64.u32 %rd5, %r3;\nadd.s64 %rd4, %rd5, %rd1;\n",
      "not.b32 %r3, %r2;\nshl.b32 %r4, %r3, %r1;\nor.b32 %r5, %r4, 1;\nand.b32 %r6, %r5, 7;\n"
      "shr.s32 %r7, %r6, 1;\nmul.wide.s32 %rd5, %r7, 4;\nadd.s64 %rd4, %rd1, %rd5;\n",
      "ld.param.v2.u64 {%rd5, %rd6}, [s+8];\nadd.s64 %rd4, %rd6, %rd2;\n",
      "{\n.reg .b64 %rd4;\nmov.u64 %rd4, %rd3;\n}\nmov.u64 %rd4, %rd1;\n");
  INFO(body);
  CHECK(has_form(body + kStore));
}

TEST_CASE("what is loaded, guarded or defined twice is not known") {
  const std::string body =
      GENERATE(as<std::string>{}, "@%p1 mov.u64 %rd4, %rd3;\n", "ld.global.u64 %rd4, [%rd1];\n",
               "mov.u64 %rd4, %rd3;\nmov.u64 %rd4, %rd1;\n", "selp.b64 %rd4, %rd3, %rd1, %p1;\n",
               "mov.u64 %rd4, %rd3;\n@%p1 add.s64 %rd4, %rd4, 4;\n",
               "mov.u64 %rd4, %rd3;\nadd.s64 %rd4, %rd4, 4;\nmov.u64 %rd4, %rd1;\n",
               "mov.u64 %rd4, %rd3;\nadd.s64 %rd4, %rd1, 4;\n", "add.s64 %rd4, %rd4, 4;\n",
               "mov.u64 %rd4, %rd3;\nadd.s64 %rd4, %rd4, %rd4;\n", "mov.b64 %rd4, {%r1, %r2};\n",
               "mul.hi.u64 %rd5, %rd2, 4;\nadd.s64 %rd4, %rd1, %rd5;\n",
               "mov.u32 %r3, %laneid;\nmul.wide.u32 %rd5, %r3, 4;\nadd.s64 %rd4, %rd1, %rd5;\n",
               "mov.u64 %rd4, total;\n");
  INFO(body);
  CHECK_FALSE(has_form(body + kStore));
}

TEST_CASE("what a loop adds is known, through copies and several sums") {
  const std::string loop =
      GENERATE(as<std::string>{}, "add.s64 %rd4, %rd4, 16;\n", "add.s64 %rd4, 16, %rd4;\n",
               "sub.s64 %rd4, %rd4, 16;\n", "add.s64 %rd5, %rd4, 16;\nmov.u64 %rd4, %rd5;\n",
               "add.s64 %rd5, %rd4, %rd2;\nadd.s64 %rd6, %rd5, %rd2;\nmov.u64 %rd4, %rd6;\n");
  const std::string body = "mov.u64 %rd4, %rd3;\n$loop:\n" + kStore + loop + "@%p1 bra $loop;\n";
  INFO(body);
  const GlobalAccesses all = accesses_of(body);
  REQUIRE(all.accesses.size() == 1);
  REQUIRE(all.accesses[0].form);
  CHECK(all.nodes[*all.accesses[0].form].op == AddressOp::kCount);
  CHECK_FALSE(has_form("mov.u64 %rd4, %rd3;\n$loop:\n" + kStore +
                       "add.s64 %rd5, %rd4, %rd4;\nmov.u64 %rd4, %rd5;\n@%p1 bra $loop;\n"));
}

TEST_CASE("a counter may have several steps, of a loop and of what is left over of it") {
  const std::string loops =
      "mov.u64 %rd4, %rd3;\n$rest:\n" + kStore +
      "add.s64 %rd4, %rd4, %rd2;\n@%p1 bra $rest;\n$loop:\n" + kStore +
      "add.s64 %rd5, %rd4, %rd2;\nadd.s64 %rd4, %rd5, %rd2;\n@%p1 bra $loop;\n";
  const GlobalAccesses all = accesses_of(loops);
  REQUIRE(all.accesses.size() == 2);
  REQUIRE(all.accesses[1].form);
  const AddressNode& outer = all.nodes[*all.accesses[1].form];
  CHECK(outer.op == AddressOp::kCount);
  CHECK(all.nodes[outer.first].op == AddressOp::kCount);
  CHECK_FALSE(has_form("$loop:\n" + kStore +
                       "add.s64 %rd4, %rd4, 4;\nadd.s64 %rd4, %rd4, 8;\n@%p1 bra $loop;\n"));
  CHECK_FALSE(has_form(loops + "mov.u64 %rd4, %rd1;\n@%p1 bra $loop;\n"));
}

TEST_CASE("an access knows what the branches to it have decided") {
  const auto guards = [](const std::string& body) {
    const GlobalAccesses all = accesses_of(body);
    REQUIRE(all.accesses.size() == 1);
    return all.accesses[0].guards.size();
  };
  const std::string less = "setp.lt.u32 %p0, %r2, %r1;\n", in = "@%p0 bra $in;\n",
                    store = "st.global.u32 [%rd3], 0;\n",
                    out = "bra $out;\n$in:\n" + store + "$out:\n";
  CHECK(guards(less + "@!%p0 bra $out;\n" + store + "$out:\n") == 1);
  CHECK(guards(less + in + out) == 1);
  CHECK(guards(store + less + in + "bra $out;\n$in:\n$out:\n") == 0);
  CHECK(guards("setp.lt.u32 %p1, %r2, %r1;\n@!%p1 bra $out;\n" + store + "$out:\n") == 0);
  CHECK(guards(less + in + "@%p1 bra $in;\n" + out) == 0);  // it may come without
  CHECK(guards("@%p1 bra $in;\n" + less + in + out) == 0);
  CHECK(guards("setp.eq.u32 %p0, %r2, %r1;\n" + in + out) == 0);
  CHECK(guards(less + "setp.eq.u32 %p0, %r2, %r1;\n" + in + out) == 0);  // written once more
}

TEST_CASE("what is made alike in several places is known") {
  const std::string begin =
                        "mov.u32 %r3, %r2;\ncvt.s64.s32 %rd5, %r3;\n$loop:\n"
                        "shl.b64 %rd6, %rd5, 2;\nadd.s64 %rd4, %rd1, %rd6;\n" +
                        kStore + "add.s32 %r3, %r3, %r1;\n",
                    end = "@%p1 bra $loop;\n";
  CHECK(has_form(begin + "cvt.s64.s32 %rd5, %r3;\n" + end));
  CHECK(has_form(begin + "cvt.s64.s32 %rd5, %r3;\n" + end + "cvt.s64.s32 %rd5, %r3;\n" + end));
  const std::string other =
      GENERATE(as<std::string>{}, "cvt.s64.s32 %rd5, %r2;\n", "cvt.u64.u32 %rd5, %r3;\n",
               "@%p1 cvt.s64.s32 %rd5, %r3;\n", "mul.wide.s32 %rd5, %r3, 1;\n");
  INFO(other);
  CHECK_FALSE(has_form(begin + other + end));
}

TEST_CASE("what a round makes of a counter is known") {
  CHECK(
      has_form("mov.u64 %rd4, %rd3;\n$loop:\nadd.s64 %rd5, %rd4, 16;\n"
               "st.global.u32 [%rd5], 0;\nmov.u64 %rd4, %rd5;\n@%p1 bra $loop;\n"));
}

TEST_CASE("only plain loads and stores of the kernel itself have forms") {
  CHECK(has_form("ld.global.u32 %r3, [%rd3];\nst.global.u32 [%rd3+64], %r3;\n"));
  const std::string access = GENERATE(
      as<std::string>{}, "ld.volatile.global.u32 %r3, [%rd3];\n", "st.volatile.u32 [%rd3], 0;\n",
      "ld.relaxed.gpu.global.u32 %r3, [%rd3];\n", "st.release.gpu.global.u32 [%rd3], 0;\n",
      "atom.global.add.u32 %r3, [%rd3], 1;\n", "red.global.add.u32 [%rd3], 1;\n");
  INFO(access);
  CHECK_FALSE(has_form(access));
}

TEST_CASE("an access has its bytes, its place and its sites") {
  const GlobalAccesses all = accesses_of(
      "bar.sync 0;\nst.global.v2.u32 [%rd3+24], {%r1, %r2};\n"
      "st.shared.u32 [tile], 0;\nst.global.u32 [%rd3+24], %r1;\n");
  REQUIRE(all.accesses.size() == 2);
  CHECK(all.are_known);
  const GlobalAccess& first = all.accesses[0];
  CHECK((first.bytes == 8 && first.offset == 24 && first.sites == 1 && first.first_site == 8));
  CHECK(first.leads.arguments == std::vector<ArgumentWord>{{0, 0}});
}

TEST_CASE("how many records a warp makes is known unless it may go round a loop") {
  const auto most_records = [](const std::string& body) {
    return instrumented(body).kernels.front().most_records;
  };
  const std::string store = "st.global.u32 [%rd3], %r2;\n", barrier = "bar.sync 0;\n";
  const auto one = most_records(store);
  REQUIRE(one.has_value());
  CHECK(most_records(store + barrier + store) == *one + 2);
  CHECK_FALSE(most_records("$again:\n" + store + "@%p1 bra $again;\n").has_value());
}

TEST_CASE("what one pointer or one variable leads to goes round its hook by a comparison") {
  const InstrumentedModule module = instrumented(
      "ld.global.u32 %r3, [%rd3];\nst.global.u32 [%rd3+4], %r3;\n"
      "mov.u64 %rd4, table;\nadd.s64 %rd4, %rd4, %rd2;\nld.global.u32 %r3, [%rd4];\n");
  const std::vector<Shortcut>& shortcuts = module.kernels.front().shortcuts;
  REQUIRE(shortcuts.size() == 2);
  CHECK(shortcuts[0].argument == ArgumentWord{.parameter = 0});
  CHECK((shortcuts[0].stores && shortcuts[0].accesses.size() == 2));
  CHECK((!shortcuts[1].argument && shortcuts[1].variable == "table" && !shortcuts[1].stores));
  CHECK(module.text.find("ld.param.b64 %__barracuda_r, [kernel___barracuda_launch+24]") !=
        std::string::npos);
}

TEST_CASE("what may lead to two, what orders and what is called takes no shortcut") {
  const std::string body = GENERATE(
      as<std::string>{}, "ld.param.u64 %rd4, [q];\nselp.b64 %rd4, %rd3, %rd4, %p1;\n" + kStore,
      "mov.u64 %rd4, table;\nselp.b64 %rd4, %rd3, %rd4, %p1;\n" + kStore,
      "mov.u64 %rd4, table;\nmov.u64 %rd5, total;\nselp.b64 %rd4, %rd4, %rd5, %p1;\n" + kStore,
      "ld.global.u64 %rd4, [%rd5];\n" + kStore, "st.volatile.global.u32 [%rd3], 0;\n",
      "st.release.gpu.global.u32 [%rd3], 0;\n", "red.global.add.u32 [%rd3], 1;\n",
      "atom.global.add.u32 %r3, [%rd3], 1;\n", "st.shared.u32 [tile], 0;\n");
  INFO(body);
  const InstrumentedModule module = instrumented(body);
  CHECK(module.kernels.front().shortcuts.empty());
  CHECK(module.text.find(".param .u64 kernel___barracuda_launch") != std::string::npos);
}

TEST_CASE("of more variables than are told apart none takes a shortcut for another") {
  std::string body;
  for (int i = 0; i < 9; ++i) {
    body += ".global .u32 v" + std::to_string(i) + ";\nmov.u64 %rd5, v" + std::to_string(i) +
            ";\nld.global.u32 %r3, [v" + std::to_string(i) + "];\n";
  }
  const InstrumentedModule module = instrumented(body + "mov.u64 %rd4, %rd5;\n" + kStore);
  for (const Shortcut& shortcut : module.kernels.front().shortcuts) {
    CHECK(shortcut.accesses.size() == 1);
    CHECK_FALSE(shortcut.stores);
  }
}

TEST_CASE("what is called or copied is not known") {
  CHECK_FALSE(accesses_of("cp.async.ca.shared.global [tile], [%rd1], 4;\n").are_known);
  CHECK_FALSE(accesses_of("ld.global.u64 %rd4, [%rd1];\nld.global.u32 %r3, [%rd4];\n").are_known);
  CHECK_FALSE(accesses_of("{\n.param .b64 a;\nst.param.b64 [a], %rd1;\n"
                          "proto: .callprototype _ (.param .b64 _);\ncall %rd2, (a), proto;\n}\n")
                  .are_known);
  CHECK(accesses_of("ld.global.u32 %r3, [%rd1];\nst.shared.u32 [tile], %r3;\n").are_known);
}

}  // namespace barracuda::ptx

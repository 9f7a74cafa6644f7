// What instructions make of given bits: the corners of PTX's integers.
#include "ptx/analysis/literal_arithmetic.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "ptx/parse.h"

namespace barracuda::ptx {
namespace {

using Bits = std::vector<std::uint64_t>;

// The instruction whose text this is, before its operands.
template <typename Visitor>
auto with_instruction(const std::string& words, const Visitor& visit) {
  const auto module =
      parse(".version 8.0\n.target sm_90\n.address_size 64\n.entry k() {\n.reg .b64 %r<9>;\n" +
            words + " %r1, %r2;\n}\n");
  REQUIRE(module);
  for (const Statement& each : module->statements) {
    if (each.kind == StatementKind::kInstruction) {
      return visit(each.instruction);
    }
  }
  FAIL("no instruction");
  return visit(Instruction());
}

std::optional<std::uint64_t> result(const std::string& words, const Bits& inputs) {
  return with_instruction(words,
                          [&](const Instruction& each) { return literal_result(each, inputs); });
}

std::optional<std::uint64_t> update(const std::string& words, std::uint64_t old,
                                    const Bits& inputs) {
  return with_instruction(
      words, [&](const Instruction& each) { return literal_update(each, old, inputs); });
}

bool holds(const std::string& words, const Bits& inputs) {
  return with_instruction(words, [&](const Instruction& each) {
    const auto compared = literal_comparison(each, inputs);
    REQUIRE(compared);
    return compared->first;
  });
}

constexpr std::uint64_t kMinusOne = 0xffffffff;

TEST_CASE("integers wrap at their type's width") {
  CHECK(result("add.s32", {kMinusOne, 1}) == 0);
  CHECK(result("sub.u32", {0, 1}) == kMinusOne);
  CHECK(result("add.s64", {kMinusOne, 1}) == 0x100000000);
  CHECK(result("mul.lo.s32", {0x10000, 0x10000}) == 0);
  CHECK(result("mul.hi.u32", {0x10000, 0x10000}) == 1);
  CHECK(result("mul.wide.s32", {kMinusOne, 4}) == ~std::uint64_t{3});
  CHECK(result("mul.wide.u32", {kMinusOne, 4}) == 0x3fffffffc);
  CHECK(result("mad.lo.s32", {3, 4, 5}) == 17);
  CHECK(result("mad.wide.u32", {2, 3, 0x100000000}) == 0x100000006);
}

TEST_CASE("signs matter where the type has one") {
  CHECK(result("div.s32", {kMinusOne, 2}) == 0);
  CHECK(result("div.u32", {kMinusOne, 2}) == 0x7fffffff);
  CHECK(result("rem.s32", {kMinusOne, 2}) == kMinusOne);
  CHECK(result("div.s32", {0x80000000, kMinusOne}) == 0x80000000);
  CHECK(result("div.u32", {7, 0}) == kMinusOne);
  CHECK(result("shr.s32", {0x80000000, 31}) == kMinusOne);
  CHECK(result("shr.u32", {0x80000000, 31}) == 1);
  CHECK(result("shr.s32", {0x80000000, 99}) == kMinusOne);
  CHECK(result("shl.b32", {1, 32}) == 0);
  CHECK(result("min.s32", {kMinusOne, 1}) == kMinusOne);
  CHECK(result("min.u32", {kMinusOne, 1}) == 1);
  CHECK(result("max.s32", {kMinusOne, 1}) == 1);
  CHECK(holds("setp.lt.s32", {kMinusOne, 0}));
  CHECK_FALSE(holds("setp.lt.u32", {kMinusOne, 0}));
  CHECK(holds("setp.ge.and.u32", {1, 1, 1}));
  CHECK_FALSE(holds("setp.ge.and.u32", {1, 1, 0}));
}

TEST_CASE("bits and conversions") {
  CHECK(result("cvt.s64.s32", {kMinusOne}) == ~std::uint64_t{0});
  CHECK(result("cvt.u64.u32", {kMinusOne}) == kMinusOne);
  CHECK(result("cvt.u16.u32", {0x12345}) == 0x2345);
  CHECK(result("not.b32", {0}) == kMinusOne);
  CHECK(result("not.pred", {1}) == 0);
  CHECK(result("popc.b32", {0xf0}) == 4);
  CHECK(result("clz.b32", {1}) == 31);
  CHECK(result("clz.b64", {1}) == 63);
  CHECK(result("brev.b32", {1}) == 0x80000000);
  CHECK(result("bfe.u32", {0xabcd, 4, 8}) == 0xbc);
  CHECK(result("bfe.s32", {0xf0, 4, 4}) == kMinusOne);
  CHECK(result("bfi.b32", {0xf, 0, 8, 4}) == 0xf00);
  CHECK(result("prmt.b32", {0x33221100, 0x77665544, 0x7410}) == 0x77441100);
  CHECK(result("lop3.b32", {0xcc, 0xaa, 0xf0, 0x80}) == 0x80);
  CHECK(result("shf.l.wrap.b32", {0x80000000, 1, 1}) == 3);
  CHECK(result("selp.b32", {5, 6, 0}) == 6);
}

TEST_CASE("atomics") {
  CHECK(update("atom.global.add.u32", kMinusOne, {2}) == 1);
  CHECK(update("atom.global.exch.b32", 5, {7}) == 7);
  CHECK(update("atom.global.cas.b32", 5, {5, 7}) == 7);
  CHECK(update("atom.global.cas.b32", 5, {6, 7}) == 5);
  CHECK(update("atom.global.inc.u32", 3, {3}) == 0);
  CHECK(update("atom.global.dec.u32", 0, {3}) == 3);
  CHECK(update("atom.global.min.s32", kMinusOne, {0}) == kMinusOne);
}

TEST_CASE("what is not known is not guessed") {
  CHECK_FALSE(result("add.f32", {1, 2}));
  CHECK_FALSE(result("add.sat.s32", {1, 2}));
  CHECK_FALSE(result("cvt.rn.f32.s32", {1}));
  CHECK_FALSE(result("tanh.approx.f32", {1}));
  CHECK_FALSE(update("atom.global.add.f32", 0, {1}));
}

}  // namespace
}  // namespace barracuda::ptx

#include <bit>

#include <catch2/catch.hpp>

#include "ptx_text.h"

namespace barracuda::ptx {

namespace {

using Kind = Operand::Kind;

// The second operand of "mov.u32 r, TEXT;".
Operand operand(std::string_view text) {
  const Instruction instruction = parse_instruction(
      std::string(".reg .b32 r, q<4>; .reg .v2 .b32 %v; .shared .u32 sym[8];\n mov.u32 r, ") +
      std::string(text) + ";");
  REQUIRE(instruction.operands.size() == 2);
  CHECK(instruction.operands[1].text == text);
  return instruction.operands[1];
}

std::int64_t integer(std::string_view text) {
  const Operand parsed = operand(text);
  REQUIRE(parsed.kind == Kind::kInteger);
  return std::bit_cast<std::int64_t>(parsed.bits);
}

double number(std::string_view text) {
  const Operand parsed = operand(text);
  REQUIRE(parsed.kind == Kind::kFloat);
  return parsed.float_bits == 64
             ? std::bit_cast<double>(parsed.bits)
             : static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(parsed.bits)));
}

}  // namespace

TEST_CASE("integers are read in every base, with and without the suffix U") {
  CHECK(integer("0") == 0);
  CHECK(integer("42") == 42);
  CHECK(integer("42U") == 42);
  CHECK(integer("0x1F") == 31);
  CHECK(integer("0XffU") == 255);
  CHECK(integer("017") == 15);
  CHECK(integer("0b101") == 5);
  CHECK(integer("-1") == -1);
  CHECK(integer("- 3") == -3);
  CHECK(integer("18446744073709551615") == -1);
  CHECK(integer("WARP_SZ") == 32);
  CHECK(integer("-WARP_SZ") == -32);
}

TEST_CASE("constant expressions follow C") {
  CHECK(integer("(1+2)*3") == 9);
  CHECK(integer("1+2*3") == 7);
  CHECK(integer("-(4<<2)") == -16);
  CHECK(integer("~0") == -1);
  CHECK(integer("!5") == 0);
  CHECK(integer("!(1 > 2)") == 1);
  CHECK(integer("7/2%2") == 1);
  CHECK(integer("-7/2") == -3);
  CHECK(integer("1|6&3^1") == (1 | ((6 & 3) ^ 1)));
  CHECK(integer("1<<70") == 0);
  CHECK(integer("-8>>1") == -4);
  CHECK(integer("(.u64)-8>>1") == 0x7ffffffffffffffc);
  CHECK(integer("0xffffffffffffffff > 1") == 1);
  CHECK(integer("-1 > 1") == 0);
  CHECK(integer("3 == 3 && 2 != 2 || 1") == 1);
  CHECK(integer("1 ? 2 : 3") == 2);
  CHECK(integer("0 ? 2 : 0 ? 4 : 5") == 5);
  CHECK(integer("WARP_SZ-1") == 31);
  CHECK(integer("2.5 > 1") == 1);
}

TEST_CASE("floating-point literals keep their bits") {
  CHECK(number("0f3F800000") == 1.0);
  CHECK(number("0Fc0000000") == -2.0);
  CHECK(number("0d3FF8000000000000") == 1.5);
  CHECK(number("1.5e3") == 1500.0);
  CHECK(number("2e-1") == 0.2);
  CHECK(number("1.") == 1.0);
  CHECK(number("-0f3F800000") == -1.0);
  CHECK(number("-1.5") == -1.5);
  CHECK(operand("0f7FC00000").bits == 0x7FC00000);
  CHECK(operand("0f3F800000").float_bits == 32);
  CHECK(operand("1.0").float_bits == 64);
}

TEST_CASE("names are registers, special registers or symbols") {
  CHECK(operand("%r5").kind == Kind::kRegister);
  CHECK(operand("r").kind == Kind::kRegister);
  CHECK(operand("q3").kind == Kind::kRegister);
  CHECK(operand("q4").kind == Kind::kSymbol);
  CHECK(operand("q03").kind == Kind::kSymbol);
  CHECK(operand("sym").kind == Kind::kSymbol);
  CHECK(operand("_").kind == Kind::kSink);
  for (const char* name :
       {"%laneid", "%clock64", "%envreg31", "%pm7", "%pm0_64", "%lanemask_lt", "%globaltimer_lo",
        "%reserved_smem_offset_1", "%current_graph_exec", "%dynamic_smem_size", "%smid"}) {
    CHECK(operand(name).kind == Kind::kSpecial);
  }
  for (const char* name : {"%envreg32", "%pm8", "%clock65", "%rd1", "%pmx", "%SP", "%tidy"}) {
    CHECK(operand(name).kind == Kind::kRegister);
  }
  const Operand special = operand("%ctaid.z");
  CHECK(special.kind == Kind::kSpecial);
  CHECK(special.name == "%ctaid");
  CHECK(special.component == "z");
  const Operand vector = operand("%v.x");
  CHECK(vector.kind == Kind::kRegister);
  CHECK(vector.name == "%v");
  CHECK(vector.component == "x");
}

TEST_CASE("a register that a nested block declares ends with the block") {
  const Module module = parse_kernel(
      ".reg .b32 a; { .reg .b32 b, c<2>; mov.b32 a, b; mov.b32 a, c1; } mov.b32 a, b; mov.b32 a, "
      "c1;"
      "{ .param .b32 a; mov.b32 %r1, a; } mov.b32 %r1, a;");
  std::vector<Kind> kinds;
  for (const Statement* statement : body_of(module)) {
    if (statement->kind == StatementKind::kInstruction) {
      kinds.push_back(statement->instruction.operands[1].kind);
    }
  }
  CHECK(kinds == std::vector<Kind>{Kind::kRegister, Kind::kRegister, Kind::kSymbol, Kind::kSymbol,
                                   Kind::kSymbol, Kind::kRegister});
}

TEST_CASE("symbols take offsets in bytes and indices in elements") {
  CHECK(operand("sym+4").offset == 4);
  CHECK(operand("sym+(4*2)").offset == 8);
  CHECK(operand("sym+4*2-1").offset == 7);
  CHECK(operand("sym[3]").offset == 12);
  CHECK(operand("sym[3]").name == "sym");
  CHECK(operand("other[3]").offset == 3);
  CHECK(operand("sym[q1]").kind == Kind::kSymbol);
  CHECK(operand("sym[q1]").elements.at(0).name == "q1");
}

TEST_CASE("an address has a base and an offset") {
  const auto address = [](std::string_view text) {
    const Instruction load = parse_instruction("ld.global.u32 %r1, " + std::string(text) + ";");
    CHECK(load.operands.at(1).kind == Kind::kAddress);
    CHECK(load.operands.at(1).text == text);
    return load.operands.at(1);
  };
  const Operand minus = address("[%rd1+-4]");
  CHECK(minus.offset == -4);
  CHECK(minus.elements.at(0).kind == Kind::kRegister);
  CHECK(minus.elements.at(0).text == "%rd1");
  CHECK(minus.elements.at(0).offset == 0);
  CHECK(address("[%rd1+0]").elements.at(0).text == "%rd1");
  CHECK(address("[ %rd1 + 16 ]").offset == 16);
  CHECK(address("[sym+(4*2)]").offset == 8);
  CHECK(address("[sym]").elements.at(0).kind == Kind::kSymbol);
  CHECK(address("[4096]").elements.at(0).bits == 4096);
  CHECK(address("[%v.x+4]").elements.at(0).component == "x");
  CHECK(address("[%rd1].unified").component == "unified");
  const Operand texture = address("[tex, {%f1, %f2}]");
  REQUIRE(texture.elements.size() == 2);
  CHECK(texture.elements[1].kind == Kind::kVector);
  CHECK(texture.elements[1].elements.size() == 2);
}

TEST_CASE("predicates may be negated and paired") {
  const Instruction set = parse_instruction("setp.eq.or.u32 p|q, %r1, 0x1F, !%p3;");
  REQUIRE(set.operands.size() == 4);
  CHECK(set.operands[0].kind == Kind::kPair);
  CHECK(set.operands[0].text == "p|q");
  CHECK(set.operands[0].elements.at(1).name == "q");
  CHECK(set.operands[3].negated);
  CHECK(set.operands[3].name == "%p3");
  CHECK(set.operands[3].kind == Kind::kRegister);
  CHECK(parse_instruction("neg.s32 %r1, -%r2;").operands[1].negated);
  CHECK(
      parse_instruction("shfl.sync.idx.b32 %r1|_, %r2, 0, 31, -1;").operands[0].elements[1].kind ==
      Kind::kSink);
}

TEST_CASE("calls keep their lists") {
  const Instruction direct = parse_instruction("call.uni (retval0), f, (param0, 3);");
  REQUIRE(direct.operands.size() == 3);
  CHECK(direct.operands[0].kind == Kind::kList);
  CHECK(direct.operands[1].name == "f");
  CHECK(direct.operands[2].elements.size() == 2);
  const Instruction indirect = parse_instruction("call (r), %rd1, (), proto;");
  REQUIRE(indirect.operands.size() == 4);
  CHECK(indirect.operands[1].kind == Kind::kRegister);
  CHECK(indirect.operands[2].elements.empty());
  CHECK(parse_instruction("call f;").operands.size() == 1);
  CHECK(parse_instruction("call f, (a);").operands[1].kind == Kind::kList);
}

TEST_CASE("registers may be called like opcodes and labels") {
  const Module module =
      parse_kernel(".reg .u32 add, ld, bra; add: add.u32 add, ld, bra; @!ld bra add; ret;");
  const auto body = body_of(module);
  REQUIRE(body.size() == 5);
  CHECK(body[1]->kind == StatementKind::kLabel);
  CHECK(body[2]->instruction.opcode == Opcode::kAdd);
  CHECK(body[2]->instruction.operands[2].kind == Kind::kRegister);
  CHECK(body[3]->instruction.predicate == "ld");
  CHECK(body[3]->instruction.predicate_negated);
}

}  // namespace barracuda::ptx

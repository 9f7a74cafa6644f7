#include <catch2/catch.hpp>

#include "ptx_text.h"

namespace barracuda::ptx {

namespace {

using Kind = Operand::Kind;

const Variable& only_variable(const Module& module) {
  REQUIRE(module.statements.size() == 1);
  REQUIRE(module.statements[0].variables.size() == 1);
  return module.statements[0].variables[0];
}

std::vector<std::int64_t> integers(const Variable& variable) {
  std::vector<std::int64_t> values;
  for (const Operand& value : variable.initializer) {
    values.push_back(static_cast<std::int64_t>(value.bits));
  }
  return values;
}

}  // namespace

TEST_CASE("a variable has its space, type, alignment and extent") {
  const Module shared = parse_module(".extern .shared .align 16 .b8 dynamic[];");
  CHECK(only_variable(shared).space == StateSpace::kShared);
  CHECK(only_variable(shared).is_extern);
  CHECK(only_variable(shared).align == 16);
  CHECK(only_variable(shared).elements == 0);
  CHECK(only_variable(shared).size() == 0);
  const Module vector = parse_module(".visible .const .v4 .f32 table[(2+1)*2][2];");
  CHECK(only_variable(vector).space == StateSpace::kConst);
  CHECK(only_variable(vector).elements == 12);
  CHECK(only_variable(vector).size() == 12 * 16);
  const Module managed = parse_module(".visible .global .attribute(.managed) .align 4 .u32 m = 5;");
  CHECK(only_variable(managed).is_managed);
  CHECK(only_variable(managed).is_visible);
  CHECK(integers(only_variable(managed)) == std::vector<std::int64_t>{5});
  const Module common = parse_module(".common .global .b64 c;");
  CHECK(only_variable(common).is_common);
  const Module weak = parse_module(".weak .const[2] .b64 c;");
  CHECK(only_variable(weak).is_weak);
  CHECK(only_variable(weak).name == "c");
}

TEST_CASE("registers are declared one by one and as ranges") {
  const Module module = parse_kernel(".reg .b32 %r<5>, %a; .reg .v2 .f32 v; .reg .pred p<2>;");
  const auto body = body_of(module);
  REQUIRE(body.size() == 3);
  REQUIRE(body[0]->variables.size() == 2);
  CHECK(body[0]->variables[0].range == 5);
  CHECK(body[0]->variables[1].name == "%a");
  CHECK(body[1]->variables[0].vector == 2);
  CHECK(body[2]->variables[0].type == ScalarType::kPred);
}

TEST_CASE("initialisers are flattened, short inner lists filled up") {
  const Module module = parse_module(".global .s32 t[][2] = {{-1, 0}, {5}, {1, 2}, {7}};");
  CHECK(only_variable(module).elements == 8);
  CHECK(integers(only_variable(module)) == std::vector<std::int64_t>{-1, 0, 5, 0, 1, 2, 7});
  const Module bytes = parse_module(".global .align 1 .b8 s[4] = {0x41, 0102, 1+2};");
  CHECK(integers(only_variable(bytes)) == std::vector<std::int64_t>{0x41, 0102, 3});
  const Module empty = parse_module(".global .b32 e[3] = {};");
  CHECK(only_variable(empty).initializer.empty());
}

TEST_CASE("initialisers name symbols, in the generic space and byte by byte") {
  const Module module =
      parse_module(".global .u64 t[5] = {generic(f), g+8, 0, generic(h)+4, generic(k+16)};");
  const auto& values = only_variable(module).initializer;
  REQUIRE(values.size() == 5);
  CHECK(values[0].kind == Kind::kSymbol);
  CHECK(values[0].name == "f");
  CHECK(values[0].component == "generic");
  CHECK(values[1].component.empty());
  CHECK(values[1].offset == 8);
  CHECK(values[3].offset == 4);
  CHECK(values[4].offset == 16);
  const Module bytes = parse_module(
      ".global .u8 a[] = {0xff(foo), 0xFF00(foo+4), 0xff0000(generic(bar)), mask(q)};");
  const auto& parts = only_variable(bytes).initializer;
  REQUIRE(parts.size() == 4);
  CHECK(only_variable(bytes).elements == 4);
  CHECK(parts[0].component == "mask");
  CHECK(parts[0].bits == 0xff);
  CHECK(parts[1].offset == 4);
  CHECK(parts[2].component == "mask.generic");
  CHECK(parts[2].name == "bar");
  CHECK(parts[2].bits == 0xff0000);
  CHECK(parts[3].name == "q");
}

TEST_CASE("texture references are declared, with and without properties") {
  const Module module = parse_module(
      ".global .texref t;\n.global .samplerref s = { addr_mode_0 = clamp_to_border, filter_mode = "
      "nearest };\n.tex .u32 old;");
  REQUIRE(module.statements.size() == 3);
  CHECK(module.statements[1].variables[0].name == "s");
  CHECK(module.statements[2].variables[0].space == StateSpace::kTex);
}

TEST_CASE("an entry has parameters and attributes") {
  const Module module = parse_module(
      ".visible .entry k(\n\t.param .u64 .ptr .global .align 1 a,\n\t.param .align 8 .b8 b[24],\n"
      "\t.param .u64 .ptr .align 4 c\n)\n.maxntid 256, 1, 1\n.minnctapersm 2 .explicitcluster "
      ".reqnctapercluster 2\n{\n\tret;\n}\n.weak .entry empty() .noreturn;");
  REQUIRE(module.functions.size() == 2);
  const Function& function = module.functions[0];
  CHECK(function.name == "k");
  CHECK(function.is_entry);
  CHECK(function.is_visible);
  CHECK(function.has_body);
  REQUIRE(function.parameters.size() == 3);
  CHECK(function.parameters[0].space == StateSpace::kParam);
  CHECK(function.parameters[0].align == 0);
  CHECK(function.parameters[1].size() == 24);
  CHECK(function.parameters[1].align == 8);
  CHECK(function.parameters[2].name == "c");
  CHECK(function.attributes == std::vector<std::string_view>{".maxntid 256, 1, 1",
                                                             ".minnctapersm 2", ".explicitcluster",
                                                             ".reqnctapercluster 2"});
  CHECK(module.statements[function.header].kind == StatementKind::kFunction);
  CHECK(module.statements[function.body_begin].kind == StatementKind::kBlockOpen);
  CHECK(module.statements[function.body_end].kind == StatementKind::kBlockClose);
  CHECK_FALSE(module.functions[1].has_body);
  CHECK(module.functions[1].is_weak);
  CHECK(module.functions[1].attributes == std::vector<std::string_view>{".noreturn"});
}

TEST_CASE("device functions return values and are found by their definition") {
  const Module module = parse_module(
      ".extern .func (.param .b32 r) f (.param .b64 a, .param .b64 b);\n"
      ".func (.param .b32 r) f (.param .b64 a, .param .b64 b)\n{ ret; }\n"
      ".visible .func .attribute(.unified(0x1, 0x2)) g\n.noreturn\n{ trap; }\n"
      ".func (.reg .u32 x) h (.reg .u32 y) { mov.u32 x, y; ret; }\n.alias a, f;\n");
  REQUIRE(module.functions.size() == 4);
  CHECK(module.functions[0].is_extern);
  CHECK(module.functions[0].returns.size() == 1);
  CHECK(module.find_function("f") == &module.functions[1]);
  CHECK(module.find_function("nothing") == nullptr);
  CHECK(module.functions[2].name == "g");
  CHECK(module.functions[2].attributes ==
        std::vector<std::string_view>{".attribute(.unified(0x1, 0x2))", ".noreturn"});
  const Statement& move = module.statements[module.functions[3].body_begin + 1];
  CHECK(move.instruction.operands[0].kind == Kind::kRegister);
  CHECK(move.instruction.operands[1].kind == Kind::kRegister);
  CHECK(module.statements.back().kind == StatementKind::kOther);
  CHECK(module.statements.back().text == ".alias a, f;");
}

TEST_CASE("branch targets, call targets and prototypes carry their name") {
  const Module module = parse_kernel(
      "ts: .branchtargets L0, L1;\nct: .calltargets f, g;\nproto: .callprototype (.param .b32 _) _ "
      "(.param .b64 _, .param .align 8 .b8 _[12]) .noreturn;\nempty: .callprototype _ ;");
  const auto body = body_of(module);
  REQUIRE(body.size() == 4);
  CHECK(body[0]->kind == StatementKind::kBranchTargets);
  CHECK(body[0]->label == "ts");
  CHECK(body[0]->targets == std::vector<std::string_view>{"L0", "L1"});
  CHECK(body[1]->kind == StatementKind::kCallTargets);
  CHECK(body[2]->kind == StatementKind::kCallPrototype);
  CHECK(body[2]->label == "proto");
  CHECK(body[2]->returns.size() == 1);
  CHECK(body[2]->parameters.at(1).size() == 12);
  CHECK(body[3]->parameters.empty());
}

}  // namespace barracuda::ptx

#include "ptx/parse.h"

#include <iterator>

#include <catch2/catch.hpp>

#include "ptx/analysis/program.h"
#include "ptx_text.h"

namespace barracuda::ptx {

TEST_CASE("the head of a module says version, target and address size") {
  const Module module =
      parse_module("// comment\n.version 9.0 .target sm_90a, debug\n.address_size 64\n");
  REQUIRE(module.statements.size() == 3);
  CHECK(module.version_major == 9);
  CHECK(module.version_minor == 0);
  CHECK(module.target == "sm_90a");
  CHECK(module.target_arch() == 90);
  CHECK(module.statements[1].text == ".target sm_90a, debug");
  CHECK(module.statements[1].position.line == 2);
  CHECK(module.statements[1].position.column == 14);
}

TEST_CASE("a line may hold several statements, and a statement several lines") {
  const Module module = parse_kernel(
      "{ .reg .pred p; setp.ne.b32 p, %r1, 0; @p st.global.u32 [%rd1], 1; }\ncall.uni (r),\n f, // "
      "why\n (a /* b; */\n);");
  const auto body = body_of(module);
  REQUIRE(body.size() == 6);
  CHECK(body[0]->kind == StatementKind::kBlockOpen);
  CHECK(body[3]->instruction.predicate == "p");
  CHECK(body[3]->instruction.has(Modifier::kGlobal));
  CHECK(body[3]->text == "@p st.global.u32 [%rd1], 1;");
  CHECK(body[4]->kind == StatementKind::kBlockClose);
  CHECK(body[5]->instruction.opcode == Opcode::kCall);
  CHECK(body[5]->instruction.operands.size() == 3);
  CHECK(body[5]->position.line == 7);
}

TEST_CASE("modifiers keep their order, with scopes in double colons") {
  const Instruction copy = parse_instruction(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 16, "
      "[%r2];");
  CHECK(copy.opcode == Opcode::kCp);
  using enum Modifier;
  CHECK(copy.modifiers ==
        std::vector{kAsync, kBulk, kSharedCluster, kGlobal, kMbarrierCompleteTxBytes});
  const Instruction spread = parse_instruction("ld /*a*/ .global\n.u32 %r1, [%rd1];");
  CHECK(spread.modifiers == std::vector{kGlobal, kU32});
  CHECK(spread.mnemonic == "ld /*a*/ .global\n.u32");
  CHECK(name_of(spread) == "ld.global.u32");
}

TEST_CASE("words that are not in the tables are kept as text") {
  const Instruction strange = parse_instruction("frobnicate.gpu.L2::odd %r1;");
  CHECK(strange.opcode == Opcode::kUnknown);
  CHECK(strange.modifiers == std::vector{Modifier::kGpu, Modifier::kUnknown});
  CHECK(name_of(strange) == "frobnicate.gpu.L2::odd");
}

TEST_CASE("each word of the tables is found by its text, and nothing else is") {
  for (std::size_t i = 0; i < kOpcodeTexts.size(); ++i) {
    CHECK(find_opcode(kOpcodeTexts[i]) == static_cast<Opcode>(i));
  }
  for (std::size_t i = 0; i < kModifierTexts.size(); ++i) {
    CHECK(find_modifier(kModifierTexts[i]) == static_cast<Modifier>(i));
  }
  for (const std::string_view word : {"l", "LD", "ldx", "global", "ld.global"}) {
    CHECK(find_opcode(word) == Opcode::kUnknown);
  }
  CHECK(find_modifier("Global") == Modifier::kUnknown);
  CHECK(type_of(Modifier::kU32) == ScalarType::kU32);
  CHECK(type_of(Modifier::kGlobal) == ScalarType::kNone);
  CHECK(size_of(ScalarType::kB128) == 16);
  CHECK(size_of(ScalarType::kPred) == 0);
}

TEST_CASE("locations say file, line, column and where the code was inlined") {
  const Module module = parse_kernel(
      ".loc 1 22 3\n.loc\t2 5 7, function_name $L__info_string3, inlined_at 1 22 9 .loc 1 2 3, "
      "function_name f+12, inlined_at 4 5 6\nret;");
  const auto body = body_of(module);
  REQUIRE(body.size() == 4);
  CHECK(body[0]->location.line == 22);
  CHECK(body[0]->location.function_label.empty());
  CHECK(body[1]->location.file == 2);
  CHECK(body[1]->location.function_label == "$L__info_string3");
  CHECK(body[1]->location.inlined_column == 9);
  CHECK(body[2]->location.function_offset == 12);
  CHECK(body[2]->location.inlined_file == 4);
}

TEST_CASE("files, sections, pragmas and directives from later versions are kept") {
  const Module module = parse_module(
      ".file 1 \"/a b/c.cu\"\n.file 2 \"d.cuh\", 1234567890123, 77\n"
      ".section .debug_str\n{\n$L__info_string0:\n.b8 95 // }\n.b8 \"}\"\n}\n"
      ".pragma \"nounroll\", \"other\";\n.strange thing(1, {2}) \";\" ;\n.block { a; b }\n"
      "@@DWARF .section .debug_info, \"\", @progbits\n@@DWARF .byte 1, 2   "
      "\n.section\t.debug_macinfo {}");
  REQUIRE(module.statements.size() == 9);
  CHECK(module.statements[0].file_name == "/a b/c.cu");
  CHECK(module.statements[1].file_index == 2);
  CHECK(module.statements[1].text == ".file 2 \"d.cuh\", 1234567890123, 77");
  CHECK(module.statements[2].kind == StatementKind::kSection);
  CHECK(module.statements[2].label == ".debug_str");
  CHECK(module.statements[2].text.ends_with("\"}\"\n}"));
  CHECK(module.statements[3].kind == StatementKind::kPragma);
  CHECK(module.statements[4].text == ".strange thing(1, {2}) \";\" ;");
}

TEST_CASE("a module that is moved keeps its views") {
  Module module = parse_kernel("ret;");
  const Module moved = std::move(module);
  CHECK(moved.functions.at(0).name == "kernel");
  CHECK(body_of(moved).at(0)->text == "ret;");
}

TEST_CASE("snippets are statements whose text the module keeps") {
  Module module = parse_kernel("ret;");
  auto snippet =
      parse_statements(module, "{ .reg .b64 %x; ld.param.u64 %x, [p+8];\n.extern .shared .b8 d[];");
  REQUIRE(snippet);
  REQUIRE(snippet->size() == 4);
  CHECK((*snippet)[2].instruction.operands[1].offset == 8);
  CHECK((*snippet)[2].position.line == 0);
  auto declaration = parse_statements(module, ".extern .func g (.param .b64 a);");
  REQUIRE(declaration);
  CHECK(module.functions.size() == 2);
  CHECK(module.functions[(*declaration)[0].function].name == "g");
  auto close = parse_statements(module, "} }");
  REQUIRE(close);
  CHECK(close->size() == 2);
  CHECK_FALSE(parse_statements(module, ".func broken ("));
  CHECK(module.functions.size() == 2);
}

TEST_CASE("functions are found again after statements were inserted") {
  Module module = parse_kernel("ret;");
  auto snippet = parse_statements(module, "membar.gl; { }");
  REQUIRE(snippet);
  const auto body = static_cast<std::ptrdiff_t>(module.functions[0].body_begin) + 1;
  module.statements.insert(module.statements.begin() + body,
                           std::make_move_iterator(snippet->begin()),
                           std::make_move_iterator(snippet->end()));
  module.index_functions();
  CHECK(body_of(module).size() == 4);
  CHECK(module.functions[0].body_end == module.statements.size() - 1);
}

}  // namespace barracuda::ptx

#include "ptx/analysis/variables.h"

#include <catch2/catch.hpp>

#include "ptx_text.h"

namespace barracuda::ptx {
namespace {

// Of the address in the last instruction.
std::string variable_in(const std::string& body) {
  const Module module = parse_kernel(".reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<2>;\n" +
                                     (".shared .align 4 .b8 tile[64];\n" + body));
  const Variables variables(module, module.functions.front());
  for (const Operand& operand : body_of(module).back()->instruction.operands) {
    if (operand.kind == Operand::Kind::kAddress) {
      return variables.of(operand);
    }
  }
  return "no address";
}

TEST_CASE("an address is of the parameter that it is computed from, not of its index") {
  CHECK(variable_in("ld.param.u64 %rd1, [p];\ncvta.to.global.u64 %rd2, %rd1;\n"
                    "mul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd4, %rd2, %rd3;\n"
                    "st.global.u32 [%rd4+8], %r1;\n") == "p");
}

TEST_CASE("a part of a structure is another variable than its beginning") {
  CHECK(variable_in("ld.param.u64 %rd1, [p+8];\nst.global.u32 [%rd1], %r1;\n") == "p+8");
}

TEST_CASE("an address in shared memory is of the variable") {
  CHECK(variable_in("st.shared.u32 [tile+4], %r1;\n") == "tile");
  CHECK(variable_in("mov.u32 %r2, tile;\nmad.lo.s32 %r3, %r1, 4, %r2;\n"
                    "st.shared.u32 [%r3], %r1;\n") == "tile");
}

TEST_CASE("an address in another block's shared memory is of the variable") {
  CHECK(variable_in("mov.u64 %rd1, tile;\ncvta.shared.u64 %rd2, %rd1;\n"
                    "mapa.u64 %rd3, %rd2, %r1;\nst.u32 [%rd3], %r1;\n") == "tile");
}

TEST_CASE("a pointer in memory is named by where it lies") {
  CHECK(variable_in("ld.param.u64 %rd1, [p];\nld.global.u64 %rd2, [%rd1+16];\n"
                    "st.global.u32 [%rd2], %r1;\n") == "*p+16");
}

TEST_CASE("of pointers that Triton hands on in shared memory one is as good as the other") {
  const auto handed_on = [](const std::string& variable, const std::string& offset) {
    return variable_in(".shared .align 16 .b8 global_smem[64];\nld.shared.b64 %rd1, [" + variable +
                       offset + "];\nst.global.b32 [%rd1], %r1;\n");
  };
  CHECK(handed_on("global_smem", "+8") == handed_on("global_smem", ""));
  CHECK(handed_on("tile", "+8") != handed_on("tile", ""));
}

TEST_CASE("a list is followed around its loop, and ends") {
  CHECK(variable_in("ld.param.u64 %rd1, [p];\n$again:\nld.global.u64 %rd1, [%rd1+8];\n"
                    "bra $again;\nst.global.u32 [%rd1], %r1;\n") == "*, *p+8, p");
}

TEST_CASE("of two pointers both are named, and of none nothing") {
  CHECK(variable_in("ld.param.u64 %rd1, [p];\nmov.u64 %rd2, tile;\n"
                    "selp.b64 %rd3, %rd1, %rd2, %p1;\nst.u32 [%rd3], %r1;\n") == "p, tile");
  CHECK(variable_in("st.global.u32 [%rd5], %r1;\n").empty());
}

}  // namespace
}  // namespace barracuda::ptx

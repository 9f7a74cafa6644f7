// What is read of the text of a wgmma.
#include "ptx/warpgroup_product.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "ptx/parse.h"

namespace barracuda::ptx {
namespace {

using wire::MatrixMajor;

// Of ".SHAPE.TYPES OPERANDS"; the variant is "" or ".sp".
std::optional<WarpgroupProduct> read(const std::string& text, const std::string& variant = "") {
  const auto module = parse(fmt::format(
      ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k()\n{{\n.reg .pred "
      "%p<9>;\n.reg .b32 %r<9>;\n.reg .f32 %f<9>;\n.reg .b64 %rd<9>;\n"
      "wgmma.mma_async{}.sync.aligned{};\nret;\n}}\n",
      variant, text));
  REQUIRE(module);
  for (const Statement& statement : module->statements) {
    if (statement.kind == StatementKind::kInstruction &&
        statement.instruction.opcode == Opcode::kWgmma) {
      return read_warpgroup_product(statement.instruction);
    }
  }
  return std::nullopt;
}

}  // namespace

TEST_CASE("a wgmma says its shape, where A lies and which way the matrices lie") {
  const auto both = read(".m64n128k16.f32.f16.f16 {%f1}, %rd1, %rd2, %p1, 1, -1, 1, 0");
  REQUIRE(both);
  CHECK(both->shape == wire::ProductShape{.columns = 128, .a = MatrixMajor::kRows});
  CHECK(both->depth == 16);
  CHECK_FALSE(both->negates_a);
  CHECK(both->negates_b);
  const auto registers =
      read(".m64n8k16.f32.bf16.bf16 {%f1}, {%r1, %r2, %r3, %r4}, %rd2, 1, -1, 1, 1");
  REQUIRE(registers);
  CHECK(registers->shape ==
        wire::ProductShape{.columns = 8, .has_registers = true, .b = MatrixMajor::kRows});
  CHECK(registers->negates_a);
  const auto tf32 = read(".m64n256k8.f32.tf32.tf32 {%f1}, %rd1, %rd2, %p1, 1, 1");
  REQUIRE(tf32);
  CHECK(tf32->shape == wire::ProductShape{.columns = 256});
  CHECK(tf32->depth == 8);
  CHECK(read(".m64n8k32.f16.e4m3.e5m2 {%f1}, %rd1, %rd2, %p1, 1, 1"));
  CHECK(read(".m64n8k32.satfinite.s32.s8.u8 {%r1}, %rd1, %rd2, %p1"));
  CHECK(read(".m64n8k256.s32.b1.b1.and.popc {%r1}, %rd1, %rd2, %p1"));
}

TEST_CASE("a sparse wgmma has metadata and a selector before its scale, and twice the depth in B") {
  const auto halves =
      read(".m64n8k32.f32.f16.f16 {%f1}, %rd1, %rd2, %r1, 1, %p1, 1, 1, 1, 0", ".sp");
  REQUIRE(halves);
  CHECK(halves->shape ==
        wire::ProductShape{.columns = 8, .a = MatrixMajor::kRows, .is_sparse = true});
  CHECK(halves->depth == 32);
  CHECK(halves->selector == 1);
  CHECK(halves->shape.rows_of_b().depth_bytes == 64);
  CHECK(read(".m64n8k64.s32.s8.u8 {%r1}, %rd1, %rd2, %r1, 0, %p1", ".sp::ordered_metadata"));
  CHECK_FALSE(read(".m64n8k16.f32.f16.f16 {%f1}, %rd1, %rd2, %r1, 1, %p1, 1, 1, 1, 0", ".sp"));
  CHECK_FALSE(read(".m64n8k32.f32.f16.f16 {%f1}, %rd1, %rd2, %r1, %r2, %p1, 1, 1, 1, 0", ".sp"));
}

TEST_CASE("a wgmma whose operands are not those of its types is not understood") {
  for (const std::string text : {
           ".m64n8k16.f32.f16.f16 {%f1}, %rd1, %rd2, %p1, 1, 1",           // no transposition
           ".m64n8k16.f32.f16.f16 {%f1}, %rd1, %rd2, %p1, 1, 1, 0, 0, 0",  // too many
           ".m64n8k16.f32.f16.f16 {%f1}, %rd1, %rd2, %p1, 2, 1, 0, 0",     // no sign
           ".m64n8k16.f32.f16.f16 {%f1}, %rd1, %rd2, %p1, 1, 1, 0, 2",     // no way to lie
           ".m64n8k16.f32.f16.f16 {%f1}, %rd1, %rd2, %p1, 1, 1, %r1, 0",   // not known
           ".m64n12k16.f32.f16.f16 {%f1}, %rd1, %rd2, %p1, 1, 1, 0, 0",    // no such shape
           ".m64n8k24.f32.f16.f16 {%f1}, %rd1, %rd2, %p1, 1, 1, 0, 0",     // no such depth
           ".m64n8k32.s32.s8.s8 {%r1}, %rd1, %rd2, %p1, 1, 1",             // integers have no sign
           ".m64n8k32.s32.s8.s8 {%r1}, %rd1",                              // no B
       }) {
    CAPTURE(text);
    CHECK_FALSE(read(text));
  }
}

}  // namespace barracuda::ptx

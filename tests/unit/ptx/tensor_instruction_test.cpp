// What is read of the text of a tcgen05.mma or tcgen05.cp.
#include "ptx/tensor_instruction.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "ptx/parse.h"

namespace barracuda::ptx {
namespace {

using wire::TensorKind;
using wire::TensorReads;

// Of "MODIFIERS OPERANDS".
std::optional<TensorInstruction> read(const std::string& text) {
  const auto module = parse(fmt::format(
      ".version 8.6\n.target sm_100a\n.address_size 64\n.visible .entry k()\n{{\n.reg .pred "
      "%p<9>;\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\ntcgen05{};\nret;\n}}\n",
      text));
  REQUIRE(module);
  for (const Statement& statement : module->statements) {
    if (statement.kind == StatementKind::kInstruction &&
        statement.instruction.opcode == Opcode::kTcgen05) {
      return read_tensor_instruction(statement.instruction);
    }
  }
  return std::nullopt;
}

}  // namespace

TEST_CASE("a tcgen05.mma says its kind, where A lies and which operands are descriptors") {
  const auto halves = read(".mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, %p1");
  REQUIRE(halves);
  CHECK(halves->reads == TensorReads{.kind = TensorKind::kF16});
  CHECK(halves->a == 1);
  CHECK(halves->b == 2);
  CHECK(halves->shape == 3);
  CHECK(halves->adds == 4);
  const auto in_tensor_memory =
      read(".mma.cta_group::1.kind::i8 [%r1], [%r3], %rd2, %r2, {%r4, %r5, %r6, %r7}, %p1");
  REQUIRE(in_tensor_memory);
  CHECK(in_tensor_memory->reads == TensorReads{.kind = TensorKind::kI8, .has_tensor_memory = true});
  CHECK(in_tensor_memory->a == -1);
  CHECK(in_tensor_memory->adds == 5);
  const auto sparse = read(".mma.sp.cta_group::1.kind::tf32 [%r1], %rd1, %rd2, [%r3], %r2, %p1");
  REQUIRE(sparse);
  CHECK(sparse->reads == TensorReads{.kind = TensorKind::kTf32, .is_sparse = true});
  CHECK(sparse->shape == 4);
  CHECK(sparse->adds == 5);
  const auto scaled = read(
      ".mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::4X [%r1], %rd1, %rd2, %r2, [%r3], "
      "[%r4], %p1");
  REQUIRE(scaled);
  CHECK(scaled->reads == TensorReads{.kind = TensorKind::kMxf4});
  CHECK(scaled->adds == 6);
  CHECK(read(".mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, %p1, 3"));
}

TEST_CASE("a tcgen05.cp says how many rows it reads, and how much of each") {
  for (const auto& [shape, rows, bytes] :
       {std::tuple{"128x256b", 128U, 32U}, std::tuple{"4x256b", 4U, 32U},
        std::tuple{"128x128b", 128U, 16U}, std::tuple{"64x128b.warpx2::02_13", 64U, 16U},
        std::tuple{"32x128b.warpx4", 32U, 16U}}) {
    const auto copy = read(fmt::format(".cp.cta_group::1.{} [%r1], %rd1", shape));
    REQUIRE(copy);
    CHECK(copy->reads == TensorReads{.kind = TensorKind::kCopy, .rows = rows, .row_bytes = bytes});
    CHECK(copy->a == 1);
    CHECK(copy->b == -1);
  }
}

TEST_CASE("a tcgen05 of two blocks, .ws and of no known operands is not understood") {
  CHECK_FALSE(read(".mma.cta_group::2.kind::f16 [%r1], %rd1, %rd2, %r2, %p1"));
  CHECK_FALSE(read(".mma.ws.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, %p1"));
  CHECK_FALSE(read(".mma.cta_group::1.kind::other [%r1], %rd1, %rd2, %r2, %p1"));
  CHECK_FALSE(read(".mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2"));
  CHECK_FALSE(read(".mma.sp.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, %p1"));
  CHECK_FALSE(read(".cp.cta_group::1.128x256b.b8x16.b4x16_p64 [%r1], %rd1"));
  CHECK_FALSE(read(".cp.cta_group::1.64x64b [%r1], %rd1"));
}

}  // namespace barracuda::ptx

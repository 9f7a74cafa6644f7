#include "ptx/matrix_layout.h"

#include <bit>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "ptx_text.h"

namespace barracuda::ptx {
namespace {

struct Form {
  std::string shape;
  std::uint32_t m, n, k;
  std::string type, sum;  // of the factors, of the sum
  std::uint32_t bits;
  bool any_layout;  // otherwise a by rows and b by columns
};

// What mma.h of CUDA 13 makes.
const std::vector<Form> kForms = {
    {"m16n16k16", 16, 16, 16, "f16", "f32", 16, true},
    {"m16n16k16", 16, 16, 16, "f16", "f16", 16, true},
    {"m16n16k16", 16, 16, 16, "bf16", "f32", 16, true},
    {"m16n16k16", 16, 16, 16, "s8", "s32", 8, true},
    {"m32n8k16", 32, 8, 16, "f16", "f32", 16, true},
    {"m32n8k16", 32, 8, 16, "bf16", "f32", 16, true},
    {"m32n8k16", 32, 8, 16, "u8", "s32", 8, true},
    {"m8n32k16", 8, 32, 16, "f16", "f16", 16, true},
    {"m8n32k16", 8, 32, 16, "bf16", "f32", 16, true},
    {"m8n32k16", 8, 32, 16, "s8", "s32", 8, true},
    {"m16n16k8", 16, 16, 8, "tf32", "f32", 32, true},
    {"m8n8k4", 8, 8, 4, "f64", "f64", 64, true},
    {"m8n8k32", 8, 8, 32, "u4", "s32", 4, false},
    {"m8n8k128", 8, 8, 128, "b1", "s32", 1, false},
};

void check(const std::string& text, std::uint32_t rows, std::uint32_t columns, std::uint32_t bits,
           bool by_rows) {
  INFO(text);
  const auto layout = read_matrix_layout(parse_instruction(text));
  REQUIRE(layout);
  CHECK(layout->has_lines);
  CHECK(layout->lanes == 32);
  const std::uint32_t piece = std::uint32_t{layout->element_bytes} * layout->element_count;
  CHECK(std::has_single_bit(piece));
  CHECK(piece <= 64);
  CHECK(32 * piece == rows * columns * bits / 8);
  // The lanes of a line have it all, those of all lines are the warp.
  const std::uint32_t lines = by_rows ? rows : columns;
  CHECK(lines << layout->lanes_of_line_log2 == 32);
  CHECK(piece << layout->lanes_of_line_log2 == rows * columns / lines * bits / 8);
  CHECK(layout->line_elements == rows * columns / lines);
  CHECK(layout->element_bits == bits);
  CHECK(layout->stride_operand == 2);
}

}  // namespace

TEST_CASE("the lanes of wmma share out every matrix that nvcc loads and stores") {
  for (const Form& form : kForms) {
    for (const bool by_rows : {true, false}) {
      const std::string layout = by_rows ? "row." : "col.";
      const std::string end = form.shape + ".global." + form.type + " {%r1}, [%rd1], %r2;";
      if (by_rows || form.any_layout) {
        check("wmma.load.a.sync.aligned." + layout + end, form.m, form.k, form.bits, by_rows);
      }
      if (!by_rows || form.any_layout) {
        check("wmma.load.b.sync.aligned." + layout + end, form.k, form.n, form.bits, by_rows);
      }
      const std::uint32_t sum_bits = form.sum == "f64" ? 64 : form.sum == "f16" ? 16 : 32;
      const std::string sums = layout + form.shape + "." + form.sum;
      check("wmma.load.c.sync.aligned." + sums + " {%r1}, [%rd1], %r2;", form.m, form.n, sum_bits,
            by_rows);
      check("wmma.store.d.sync.aligned." + sums + " [%rd1], {%r1}, %r2;", form.m, form.n, sum_bits,
            by_rows);
    }
  }
}

TEST_CASE("ldmatrix and stmatrix take the addresses of as many lanes as they have rows") {
  const auto lanes_of = [](std::string_view text) {
    const auto layout = read_matrix_layout(parse_instruction(text));
    REQUIRE(layout);
    CHECK_FALSE(layout->has_lines);
    CHECK(layout->element_bytes * layout->element_count == 16);
    return layout->lanes;
  };
  CHECK(lanes_of("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r5];") == 8);
  CHECK(lanes_of("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r1,%r2}, [%r5];") == 16);
  CHECK(lanes_of("stmatrix.sync.aligned.m8n8.x4.b16 [%rd5], {%r1,%r2,%r3,%r4};") == 32);
}

TEST_CASE("of narrow elements a row has the bytes of these, and not its padding") {
  struct Form {
    std::string_view text;
    std::uint32_t lanes;
    int bytes;
  };

  for (const Form& form :
       {Form{"ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r1,%r2}, [%r5];", 16, 16},
        Form{"ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8 {%r1,%r2,%r3,%r4}, [%r5];", 32, 16},
        Form{"ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8x16.b6x16_p32 {%r1,%r2}, [%r5];", 16,
             12},
        Form{"ldmatrix.sync.aligned.m16n16.x2.trans.b8x16.b4x16_p64 {%r1,%r2,%r3,%r4}, [%rd5];", 32,
             8},
        Form{"ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b6x16_p32 {%r1}, [%r5];", 8, 12},
        Form{"ldmatrix.sync.aligned.m8n16.x4.shared.b8x16.b4x16_p64 {%r1,%r2,%r3,%r4}, [%r5];", 32,
             8},
        Form{"stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 [%r5], {%r1};", 8, 16},
        Form{"stmatrix.sync.aligned.m16n8.x4.trans.shared.b8 [%r5], {%r1,%r2,%r3,%r4};", 32, 16}}) {
    CAPTURE(form.text);
    const auto layout = read_matrix_layout(parse_instruction(form.text));
    REQUIRE(layout);
    CHECK_FALSE(layout->has_lines);
    CHECK(layout->lanes == form.lanes);
    CHECK(layout->element_bytes * layout->element_count == form.bytes);
  }
}

TEST_CASE("matrices of other forms have no layout") {
  for (const std::string_view text :
       {"ldmatrix.sync.aligned.m16n16.x4.trans.shared.b8 {%r1,%r2,%r3,%r4}, [%r5];",
        "ldmatrix.sync.aligned.m16n16.x1.shared.b8 {%r1,%r2}, [%r5];",
        "ldmatrix.sync.aligned.m8n16.x1.trans.shared.b8x16.b6x16_p32 {%r1}, [%r5];",
        "ldmatrix.sync.aligned.m8n16.x1.shared.b8x16 {%r1}, [%r5];",
        "stmatrix.sync.aligned.m16n8.x1.shared.b8 [%r5], {%r1};",
        "stmatrix.sync.aligned.m16n16.x1.trans.shared.b8 [%r5], {%r1, %r2};",
        "wmma.load.a.sync.aligned.row.f16 {%r1}, [%rd1];",
        "wmma.load.a.sync.aligned.row.m24n16k16.f16 {%r1}, [%rd1];",
        "wmma.load.a.sync.aligned.m16n16k16.f16 {%r1}, [%rd1];"}) {
    CAPTURE(text);
    CHECK_FALSE(read_matrix_layout(parse_instruction(text)));
  }
  CHECK(read_matrix_layout(
            parse_instruction("wmma.load.a.sync.aligned.row.m16n16k16.f16 {%r1}, [%rd1];"))
            ->stride_operand == -1);
}

}  // namespace barracuda::ptx

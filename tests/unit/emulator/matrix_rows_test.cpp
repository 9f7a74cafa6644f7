// ldmatrix, stmatrix, movmatrix: which element of memory lies where in the registers of a warp.
#include <cstring>

#include "tests/unit/emulator/device.h"

using namespace barracuda::emulator;  // NOLINT(google-build-using-namespace)
using test::Device;
using test::kernel_text;
using test::shape;

namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

}  // namespace

TEST_CASE("matrices of halves move between shared memory and registers, also transposed") {
  Device device(kernel_text(R"(
    mov.u32 %r1, tile;
    // Row i of four 8x8 matrices holds 8 i … 8 i + 7.
    mad.lo.u32 %r2, %thread, 16, %r1;
    mul.lo.u32 %r3, %thread, 8;
    mov.u32 %r4, 0;
FILL:
    mad.lo.u32 %r5, %r4, 2, %r2;
    add.u32 %r6, %r3, %r4;
    st.shared.u16 [%r5], %r6;
    add.u32 %r4, %r4, 1;
    setp.lt.u32 %p1, %r4, 8;
    @%p1 bra FILL;
    bar.warp.sync -1;
    ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10, %r11, %r12, %r13}, [%r2];
    ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r14, %r15}, [%r2];
    movmatrix.sync.aligned.m8n8.trans.b16 %r16, %r10;
    bar.warp.sync -1;
    stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r2+512], {%r11, %r10};
    bar.warp.sync -1;
    mad.lo.u32 %r5, %thread, 4, %r1;
    ld.shared.u32 %r17, [%r5+512];
    ld.shared.u32 %r18, [%r5+640];
    mul.wide.u32 %d1, %thread, 36;
    add.u64 %d1, %base, %d1;
    st.global.u32 [%d1], %r10;
    st.global.u32 [%d1+4], %r11;
    st.global.u32 [%d1+8], %r12;
    st.global.u32 [%d1+12], %r13;
    st.global.u32 [%d1+16], %r14;
    st.global.u32 [%d1+20], %r15;
    st.global.u32 [%d1+24], %r16;
    st.global.u32 [%d1+28], %r17;
    st.global.u32 [%d1+32], %r18;)",
                            ".shared .align 16 .b8 tile[1024];\n"));
  const u64 out = device.buffer(std::vector<u32>(32 * 9, 0));
  device.run_well("k", shape({1}, {32}), out);
  const auto v = device.read<u32>(out, 32 * 9);
  for (u32 lane = 0; lane < 32; ++lane) {
    const auto straight = [&](u32 matrix) {
      const u32 first = matrix * 64 + lane / 4 * 8 + lane % 4 * 2;
      return first | (first + 1) << 16;
    };
    const auto across = [&](u32 matrix) {
      const u32 first = matrix * 64 + lane % 4 * 2 * 8 + lane / 4;
      return first | (first + 8) << 16;
    };
    const std::vector<u32> wanted = {straight(0), straight(1), straight(2), straight(3), across(0),
                                     across(1),   across(0),   straight(1), straight(0)};
    INFO("lane " << lane);
    REQUIRE(std::vector<u32>(&v[lane * 9], &v[lane * 9] + 9) == wanted);
  }
}

TEST_CASE("matrices of bytes move between shared memory and registers by columns") {
  Device device(kernel_text(R"(
    mov.u32 %r1, tile;
    // Byte i of row r holds 16 r + i, and row r of the second matrix has the complement.
    mad.lo.u32 %r2, %thread, 16, %r1;
    shl.b32 %r3, %thread, 4;
    mov.u32 %r4, 0;
FILL:
    add.u32 %r5, %r2, %r4;
    add.u32 %r6, %r3, %r4;
    setp.ge.u32 %p1, %thread, 16;
    @%p1 not.b32 %r6, %r6;
    st.shared.u8 [%r5], %r6;
    add.u32 %r4, %r4, 1;
    setp.lt.u32 %p1, %r4, 16;
    @%p1 bra FILL;
    bar.warp.sync -1;
    ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r10, %r11}, [%r2];
    ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8 {%r12, %r13, %r14, %r15}, [%r2];
    bar.warp.sync -1;
    // The halves that lie beside each other in rows of a matrix of 16 rows and 16 columns.
    stmatrix.sync.aligned.m16n8.x2.trans.shared.b8 [%r2+512], {%r10, %r12};
    bar.warp.sync -1;
    mad.lo.u32 %r5, %thread, 4, %r1;
    ld.shared.u32 %r16, [%r5+512];
    ld.shared.u32 %r17, [%r5+640];
    mul.wide.u32 %d1, %thread, 32;
    add.u64 %d1, %base, %d1;
    st.global.u32 [%d1], %r10;
    st.global.u32 [%d1+4], %r11;
    st.global.u32 [%d1+8], %r12;
    st.global.u32 [%d1+12], %r13;
    st.global.u32 [%d1+16], %r14;
    st.global.u32 [%d1+20], %r15;
    st.global.u32 [%d1+24], %r16;
    st.global.u32 [%d1+28], %r17;)",
                            ".shared .align 16 .b8 tile[1024];\n"));
  const u64 out = device.buffer(std::vector<u32>(32 * 8, 0));
  device.run_well("k", shape({1}, {32}), out);
  const auto v = device.read<u32>(out, 32 * 8);
  std::vector<std::uint8_t> stored(256);
  for (u32 lane = 0; lane < 32; ++lane) {
    // Four rows of one column each; the next register has the column eight further on.
    const auto of_columns = [&](u32 matrix, u32 column) {
      u32 word = 0;
      for (u32 part = 0; part < 4; ++part) {
        const u32 row = lane % 4 * 4 + part, byte = 16 * row + column;
        word |= ((matrix == 0 ? byte : ~byte) & 0xff) << (8 * part);
      }
      return word;
    };
    const u32 g = lane / 4;
    const std::vector<u32> wanted = {of_columns(0, g), of_columns(0, g + 8),
                                     of_columns(0, g), of_columns(0, g + 8),
                                     of_columns(1, g), of_columns(1, g + 8)};
    INFO("lane " << lane);
    REQUIRE(std::vector<u32>(&v[lane * 8], &v[lane * 8] + 6) == wanted);
    // Of a lane's four bytes two are neighbours in row g, and two in row g + 8: those of column
    // 2 t and 2 t + 1.
    for (const u32 matrix : {0U, 1U}) {
      for (u32 part = 0; part < 4; ++part) {
        const u32 column = lane % 4 * 2 + part % 2, row = g + part / 2 * 8;
        stored[matrix * 128 + column * 16 + row] =
            static_cast<std::uint8_t>(v[lane * 8 + matrix * 2] >> (8 * part));
      }
    }
  }
  std::vector<u32> words(64);
  for (u32 lane = 0; lane < 32; ++lane) {
    words[lane] = v[lane * 8 + 6];
    words[lane + 32] = v[lane * 8 + 7];
  }
  REQUIRE(std::memcmp(words.data(), stored.data(), 256) == 0);
}

TEST_CASE("elements of six and of four bits become bytes in registers") {
  Device device(kernel_text(R"(
    mov.u32 %r1, tile;
    mad.lo.u32 %r2, %thread, 16, %r1;
    mul.wide.u32 %d1, %thread, 16;
    add.u64 %d2, %base, %d1;
    ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%d2];
    st.shared.v4.u32 [%r2], {%r4, %r5, %r6, %r7};
    bar.warp.sync -1;
    ldmatrix.sync.aligned.m8n16.x2.shared.b8x16.b6x16_p32 {%r10, %r11}, [%r2];
    ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b4x16_p64 {%r12}, [%r2];
    ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8x16.b6x16_p32 {%r13, %r14}, [%r2];
    ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8x16.b4x16_p64 {%r15, %r16, %r17, %r18}, [%r2];
    mul.wide.u32 %d1, %thread, 36;
    add.u64 %d1, %base, %d1;
    bar.warp.sync -1;
    st.global.u32 [%d1], %r10;
    st.global.u32 [%d1+4], %r11;
    st.global.u32 [%d1+8], %r12;
    st.global.u32 [%d1+12], %r13;
    st.global.u32 [%d1+16], %r14;
    st.global.u32 [%d1+20], %r15;
    st.global.u32 [%d1+24], %r16;
    st.global.u32 [%d1+28], %r17;
    st.global.u32 [%d1+32], %r18;)",
                            ".shared .align 16 .b8 tile[512];\n"));
  std::vector<u32> rows(32 * 9, 0);
  for (u32 i = 0; i < 128; ++i) {
    rows[i] = i * 2654435761U + 12345;
  }
  const u64 out = device.buffer(rows);
  device.run_well("k", shape({1}, {32}), out);
  const auto v = device.read<u32>(out, 32 * 9);
  const auto element = [&](u32 bits, u32 row, u32 column) {
    u32 value = 0;
    for (u32 bit = 0; bit < bits; ++bit) {
      const u32 at = column * bits + bit;
      value |= (rows[row * 4 + at / 32] >> (at % 32) & 1) << bit;
    }
    return value;
  };
  for (u32 lane = 0; lane < 32; ++lane) {
    const u32 g = lane / 4, t = lane % 4;
    const auto along = [&](u32 bits, u32 row) {
      u32 word = 0;
      for (u32 part = 0; part < 4; ++part) {
        word |= element(bits, row, t * 4 + part) << (8 * part);
      }
      return word;
    };
    const auto across = [&](u32 bits, u32 matrix, u32 column) {
      u32 word = 0;
      for (u32 part = 0; part < 4; ++part) {
        word |= element(bits, matrix * 16 + t * 4 + part, column) << (8 * part);
      }
      return word;
    };
    const std::vector<u32> wanted = {along(6, g),         along(6, g + 8),     along(4, g),
                                     across(6, 0, g),     across(6, 0, g + 8), across(4, 0, g),
                                     across(4, 0, g + 8), across(4, 1, g),     across(4, 1, g + 8)};
    INFO("lane " << lane);
    REQUIRE(std::vector<u32>(&v[lane * 9], &v[lane * 9] + 9) == wanted);
  }
}

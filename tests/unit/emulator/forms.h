// Instruction forms against values computed on the host: each is run for every triple of a list of
// interesting operands, in full and in partial warps.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tests/unit/emulator/device.h"

namespace barracuda::emulator::test {

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;

// Operand registers: %x %y %z 64 bits, %a %b %c their low 32, %h %i %j their low 16; %f %g %k f32
// and %u %v %w f64 with those bits. Results: %R 64, %r 32, %s 16, %q f32, %t f64, %p predicate.
struct FormCase {
  std::string text;
  std::function<u64(u64 x, u64 y, u64 z)> expected;
};

inline float f32(u64 bits) {
  return std::bit_cast<float>(static_cast<u32>(bits));
}

inline double f64(u64 bits) {
  return std::bit_cast<double>(bits);
}

inline u64 bits(float value) {
  return value != value ? 0x7fffffffU : std::bit_cast<u32>(value);
}

inline u64 bits(double value) {
  return std::bit_cast<u64>(value);
}

// The text that stores a form's result as 64 bits.
inline std::string store_result(const std::string& text) {
  if (text.find("%R") != std::string::npos) {
    return "mov.b64 %S, %R;";
  }
  if (text.find("%r,") != std::string::npos || text.find("%r|") != std::string::npos) {
    return "cvt.u64.u32 %S, %r;";
  }
  if (text.find("%s,") != std::string::npos) {
    return "cvt.u64.u16 %S, %s;";
  }
  if (text.find("%q,") != std::string::npos) {
    return "mov.b32 %r, %q; cvt.u64.u32 %S, %r;";
  }
  if (text.find("%t,") != std::string::npos) {
    return "mov.b64 %S, %t;";
  }
  return "selp.u64 %S, 1, 0, %p;";
}

inline std::string forms_kernel(const std::vector<FormCase>& cases) {
  std::string text = R"(.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{
  .reg .pred %p, %p2;
  .reg .b16 %h, %i, %j, %s;
  .reg .b32 %a, %b, %c, %r, %n, %r2;
  .reg .b64 %x, %y, %z, %R, %S, %in, %out, %o;
  .reg .f32 %f, %g, %k, %q;
  .reg .f64 %u, %v, %w, %t;
  ld.param.u64 %in, [in];
  ld.param.u64 %out, [out];
  mov.u32 %n, %ctaid.x;
  mov.u32 %a, %ntid.x;
  mov.u32 %b, %tid.x;
  mad.lo.u32 %n, %n, %a, %b;
  mad.wide.u32 %in, %n, 24, %in;
  ld.global.u64 %x, [%in];
  ld.global.u64 %y, [%in+8];
  ld.global.u64 %z, [%in+16];
)";
  text += fmt::format("  mad.wide.u32 %out, %n, {}, %out;\n", cases.size() * 8);
  text += R"(  cvt.u32.u64 %a, %x; cvt.u32.u64 %b, %y; cvt.u32.u64 %c, %z;
  cvt.u16.u64 %h, %x; cvt.u16.u64 %i, %y; cvt.u16.u64 %j, %z;
  mov.b32 %f, %a; mov.b32 %g, %b; mov.b32 %k, %c;
  mov.b64 %u, %x; mov.b64 %v, %y; mov.b64 %w, %z;
)";
  for (std::size_t i = 0; i < cases.size(); ++i) {
    text += fmt::format("  {}\n  {} st.global.u64 [%out+{}], %S;\n", cases[i].text,
                        store_result(cases[i].text), i * 8);
  }
  return text + "  ret;\n}\n";
}

// All triples of the list.
inline std::vector<u64> triples(const std::vector<u64>& values) {
  std::vector<u64> result;
  for (const u64 x : values) {
    for (const u64 y : values) {
      for (const u64 z : values) {
        result.insert(result.end(), {x, y, z});
      }
    }
  }
  return result;
}

inline void check_forms(const std::vector<FormCase>& cases, const std::vector<u64>& values) {
  const std::vector<u64> operands = triples(values);
  const std::size_t threads = operands.size() / 3;
  Device device(forms_kernel(cases));
  for (const u32 block : {64U, 20U}) {
    const auto blocks = static_cast<u32>((threads + block - 1) / block);
    std::vector<u64> padded = operands;
    padded.resize(std::size_t{blocks} * block * 3, 0);
    const u64 in = device.buffer(padded);
    const u64 out = device.buffer(std::vector<u64>(std::size_t{blocks} * block * cases.size(), 0));
    device.run_well("k", shape({blocks}, {block}), in, out);
    const auto results = device.read<u64>(out, threads * cases.size());
    for (std::size_t i = 0; i < results.size(); ++i) {
      const u64* triple = &operands[i / cases.size() * 3];
      const FormCase& form = cases[i % cases.size()];
      const u64 expected = form.expected(triple[0], triple[1], triple[2]);
      if (results[i] != expected) {
        FAIL(fmt::format("{} with {:#x}, {:#x}, {:#x} gives {:#x}, not {:#x}", form.text, triple[0],
                         triple[1], triple[2], results[i], expected));
      }
    }
    device.machine().memory().release(in);
    device.machine().memory().release(out);
  }
  SUCCEED();
}

}  // namespace barracuda::emulator::test

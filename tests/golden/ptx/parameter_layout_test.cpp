// The layout of a kernel's parameters against that of ptxas.
#include <cstring>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "instrumented.h"
#include "ptx/abi.h"
#include "ptx/parse.h"

namespace barracuda::ptx {
namespace {

// What the machine code of one kernel says of its parameters: for each a record in .nv.info
// (EIATTR_KPARAM_INFO, 12 bytes), which holds its ordinal, its offset and its size in words of
// 2^-18.
std::vector<ParameterPlace> places_of_ptxas(const std::string& machine_code, std::size_t count) {
  constexpr unsigned char kMark[] = {0x04, 0x17, 0x0c, 0x00};
  std::vector<ParameterPlace> places(count);
  std::size_t found = 0;
  for (std::size_t at = 0; at + 16 <= machine_code.size(); at += 4) {
    if (std::memcmp(machine_code.data() + at, kMark, sizeof kMark) != 0) {
      continue;
    }
    std::uint16_t ordinal = 0, offset = 0;
    std::uint32_t size = 0;
    std::memcpy(&ordinal, machine_code.data() + at + 8, sizeof ordinal);
    std::memcpy(&offset, machine_code.data() + at + 10, sizeof offset);
    std::memcpy(&size, machine_code.data() + at + 12, sizeof size);
    REQUIRE(ordinal < count);
    places[ordinal] = {.offset = offset, .size = size >> 18};
    ++found;
  }
  REQUIRE(found == count);
  return places;
}

void check(std::string_view parameters) {
  INFO(parameters);
  const std::string text = fmt::format(
      ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k({})\n{{\nret;\n}}\n",
      parameters);
  const auto module = parse(text);
  REQUIRE(module);
  const Function& entry = module->functions.at(0);
  std::string machine_code;
  REQUIRE(assemble(text, &machine_code) == "");
  CHECK(parameter_layout(entry).places == places_of_ptxas(machine_code, entry.parameters.size()));
}

}  // namespace

TEST_CASE("parameters lie where ptxas places them") {
  check(".param .u8 a, .param .u16 b, .param .u64 c, .param .u8 d");
  check(".param .b32 a[3], .param .u8 b, .param .b64 c[2], .param .u8 d");
  check(".param .u8 a, .param .align 16 .b8 b[20], .param .u8 c");
  check(".param .u32 a, .param .u64 .ptr .global .align 16 b, .param .u32 c");
}

TEST_CASE(".align raises the alignment of a parameter and never lowers it") {
  check(".param .u8 a, .param .align 8 .u32 b, .param .u8 c");
  check(".param .u32 a, .param .align 4 .b64 b[2], .param .u8 c");
  check(".param .u32 a, .param .align 1 .b64 b, .param .align 2 .u32 c");
  check(".param .u8 a, .param .align 1 .b8 b[4], .param .align 32 .f32 c");
}

}  // namespace barracuda::ptx

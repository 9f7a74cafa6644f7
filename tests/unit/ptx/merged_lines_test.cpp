#include "ptx/analysis/merged_lines.h"

#include <catch2/catch.hpp>

#include "ptx/instrument.h"
#include "ptx_text.h"

namespace barracuda::ptx {
namespace {

// The innermost line of each access of the body, which is of a kernel at line 2.
std::vector<std::uint32_t> lines_of(const std::string& body) {
  std::vector<Module> units;
  units.push_back(parse_module(kernel_text(
      ".reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>;\n.loc 1 2 0\nmov.u32 %r8, 1;\n" + body +
      "ret;\n")));
  const auto instrumented = instrument(std::move(units), {});
  REQUIRE(instrumented);
  std::vector<std::uint32_t> lines;
  for (const Site& site : instrumented->sites) {
    if (site.info.element_bytes > 0) {
      lines.push_back(site.frames.front().line);
    }
  }
  return lines;
}

using Lines = std::vector<std::uint32_t>;

TEST_CASE("a store of what one of two lines gives stands where its value is chosen") {
  CHECK(lines_of(".loc 1 5 1\nsetp.lt.s32 %p1, %r1, 32;\n.loc 1 0 0\nshl.b32 %r2, %r1, 2;\n"
                 ".loc 1 6 4\nselp.b32 %r5, 1, 2, %p1;\n.loc 1 0 0\nst.global.u32 [%rd1], %r5;\n"
                 ".loc 1 9 1\nst.global.u32 [%rd2], %r1;\n") == Lines{6, 9});
}

TEST_CASE("a load for both ways of a branch stands where what it read is used") {
  CHECK(lines_of(".loc 1 5 1\nsetp.lt.s32 %p1, %r1, 32;\n.loc 1 0 0\nld.global.u32 %r3, [%rd1];\n"
                 ".loc 1 7 4\nmul.lo.s32 %r4, %r3, 3;\n.loc 1 6 4\nshl.b32 %r5, %r3, 1;\n"
                 ".loc 1 5 1\nselp.b32 %r6, %r5, %r4, %p1;\n.loc 1 7 4\n"
                 "st.global.u32 [%rd1], %r6;\n") == Lines{7, 7});
}

TEST_CASE("a store behind both ways of a branch stands where one of them goes on to it") {
  CHECK(lines_of(".loc 1 5 1\nsetp.eq.s32 %p1, %r1, 0;\n@%p1 bra L;\n.loc 1 6 4\n"
                 "st.global.u32 [%rd1], %r1;\nmembar.gl;\n.loc 1 7 4\nbra.uni M;\nL:\n.loc 1 9 4\n"
                 "st.global.u32 [%rd1], %r2;\nmembar.gl;\nM:\n.loc 1 2 9\nadd.s64 %rd2, %rd2, 1;\n"
                 ".loc 1 0 0\nst.global.u32 [%rd2], %r5;\n") == Lines{6, 9, 7});
}

TEST_CASE("a store before the branch stands just behind what comes before it, calls and all") {
  std::vector<Module> units;
  units.push_back(parse_module(
      kernel_text(".reg .b32 %r<9>; .reg .b64 %rd<9>;\n.loc 1 2 0\nmov.u32 %r1, 1;\n.loc 1 5 1\n"
                  ".loc 2 8 3, function_name f, inlined_at 1 5 1\nmov.u32 %r2, 1;\n.loc 1 0 0\n"
                  "st.global.u32 [%rd1], %r5;\n.loc 1 6 1\nmov.u32 %r3, 1;\nret;\n")));
  const auto instrumented = instrument(std::move(units), {});
  REQUIRE(instrumented);
  Lines lines;
  for (const SourceFrame& frame : instrumented->sites.front().frames) {
    lines.push_back(frame.line);
  }
  CHECK(lines == Lines{8, 5});
}

TEST_CASE("where no other line is known there is none") {
  CHECK(lines_of(".loc 1 0 0\nst.global.u32 [%rd2], %r5;\n") == Lines{0});
}

}  // namespace
}  // namespace barracuda::ptx

#include "ptx/rename_registers.h"

#include <string>

#include <catch2/catch.hpp>

#include "ptx/print.h"
#include "ptx_text.h"

namespace barracuda::ptx {
namespace {

// The body of a kernel with that body, renamed.
std::string renamed(const std::string& body) {
  Module module = parse_kernel(body);
  REQUIRE(rename_registers(module));
  module.index_functions();
  CHECK(module.is_valid());
  std::string text;
  for (const Statement* const statement : body_of(module)) {
    text += std::string(statement->text) + "\n";
  }
  return text;
}

const std::string kOwn = ".reg .pred %p<3>;\n.reg .b32 %r<4>;\nsetp.eq.s32 %p1, %r1, 0;\n",
                  kUse = "selp.b32 %r2, %r1, %r3, %p1;\n";

}  // namespace

TEST_CASE("registers of nested blocks get names of their own where another has theirs") {
  const std::string inner = "setp.ne.s32 %p1, %r2, 0;\nbar.red.popc.u32 %r1, 0, %p1;\n";
  CHECK(renamed(kOwn + "{\n.reg .pred %p1;\n" + inner + "}\n" + kUse) ==
        kOwn +
            "{\n.reg .pred %p1__2;\nsetp.ne.s32 %p1__2, %r2, 0;\n"
            "bar.red.popc.u32 %r1, 0, %p1__2;\n}\n" +
            kUse);
  CHECK(renamed(kOwn +
                "{\n.reg .pred %q;\n@%q bra $a;\n}\n{\n.reg .pred %q;\n@!%q bra $a;\n}\n$a:\n") ==
        kOwn +
            "{\n.reg .pred %q__2;\n@%q__2 bra $a;\n}\n{\n.reg .pred %q__3;\n@!%q__3 bra "
            "$a;\n}\n$a:\n");
  CHECK(renamed(kOwn + "{\n.reg .b32 %r<3>;\nmov.b32 %r2, %r3;\n}\nmov.b32 %r2, %r3;\n") ==
        kOwn + "{\n.reg .b32 %r__2_<3>;\nmov.b32 %r__2_2, %r3;\n}\nmov.b32 %r2, %r3;\n");
  CHECK(renamed(kOwn + "{\n.reg .b32 %r1;\n{\n.reg .b32 %r1;\nmov.b32 %r2, %r1;\n}\nmov.b32 %r2, "
                       "%r1;\n}\n") ==
        kOwn +
            "{\n.reg .b32 %r1__2;\n{\n.reg .b32 %r1__3;\nmov.b32 %r2, %r1__3;\n}\nmov.b32 %r2, "
            "%r1__2;\n}\n");
}

TEST_CASE("registers that no other shares its name with stay as they are") {
  for (const std::string& body : {kOwn + "{\n.reg .pred %q;\nsetp.ne.s32 %q, %r2, 0;\n}\n" + kUse,
                                  kOwn + "{\n.reg .pred q;\nsetp.ne.s32 q, %r2, 0;\n}\n" + kUse,
                                  // No numbers of those ranges.
                                  kOwn + "{\n.reg .pred %p3;\nsetp.ne.s32 %p3, %r2, 0;\n}\n",
                                  kOwn + "{\n.param .b32 p;\nst.param.b32 [p], %r2;\n}\n"}) {
    CHECK(renamed(body) == body);
  }
}

TEST_CASE("beside names that are shared, all without % get one that can be read anywhere") {
  CHECK(renamed(".reg .b32 a, b;\n{\n.reg .b32 a;\n.reg .pred q;\nsetp.eq.s32 q, a, b;\n}\n"
                "mov.b32 a, b;\n") ==
        ".reg .b32 %a__1, %b__1;\n{\n.reg .b32 %a__2;\n.reg .pred %q__2;\n"
        "setp.eq.s32 %q__2, %a__2, %b__1;\n}\nmov.b32 %a__1, %b__1;\n");
}

TEST_CASE("a name that a nested block gives to a variable is no register there") {
  CHECK(renamed(".reg .b32 a;\n{\n.reg .b32 a;\n{\n.local .b32 a;\nst.local.b32 [a], 1;\n}\n"
                "mov.b32 a, 1;\n}\n") ==
        ".reg .b32 %a__1;\n{\n.reg .b32 %a__2;\n{\n.local .b32 a;\nst.local.b32 [a], 1;\n}\n"
        "mov.b32 %a__2, 1;\n}\n");
}

TEST_CASE("a register that is written by itself alone is followed nowhere") {
  instrument_text(
      ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry kernel(.param .u64 p)\n"
      "{\n.reg .b64 %rd<3>;\n.reg .b32 %r<3>;\nmov.b64 %rd1, %rd1;\n"
      "atom.acq_rel.gpu.global.cas.b32 %r1, [%rd1], 0, 1;\nret;\n}\n");
}

TEST_CASE("lanes that a predicate of a nested block's name hides use what they load") {
  // `if (tid == 31) sum += s[tid];` beside __syncthreads_count(), whose %p1 is none of the
  // kernel's.
  const InstrumentedModule module = instrument_text(kernel_text(
      ".reg .pred %p<3>;\n.reg .b32 %r<9>;\nmov.u32 %r1, %tid.x;\nsetp.eq.u32 %p1, %r1, 31;\n"
      "ld.global.u32 %r2, [1024];\nselp.b32 %r3, %r2, 0, %p1;\n"
      "{\n.reg .pred %p1;\nsetp.ne.u32 %p1, %r3, 0;\nbar.red.popc.u32 %r4, 0, %p1;\n}\n"
      "st.global.u32 [1028], %r4;\nret;\n"));
  for (const Site& site : module.sites) {
    CHECK_FALSE(site.info.speculated);
  }
  CHECK(module.text.find("%__barracuda_u") != std::string::npos);
}

}  // namespace barracuda::ptx

// How shared variables are aligned where NVIDIA's compiler need not keep their order.
#include <string>
#include <string_view>

#include <catch2/catch.hpp>

#include "ptx_text.h"

namespace barracuda::ptx {
namespace {

std::string instrumented(std::string_view declarations, std::string_view body,
                         const InstrumentOptions& options = {}) {
  return instrument_text(".version 8.0\n.target sm_90a\n.address_size 64\n" +
                             std::string(declarations) +
                             ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<3>;\n"
                             ".reg .b64 %rd<3>;\n" +
                             std::string(body) + "ret;\n}\n",
                         options)
      .text;
}

}  // namespace

TEST_CASE("a shared array is aligned as if it came first, a number as it is") {
  const std::string text = instrumented(
      ".shared .align 4 .b8 stage[512];\n.shared .f32 sums[6];\n.shared .u32 count;\n"
      ".shared .align 128 .b8 tile[1024];\n.extern .shared .align 8 .b8 rest[];\n",
      ".shared .align 2 .b8 halves[66];\nst.shared.u32 [stage], %r1;\n");
  CHECK_THAT(text, Catch::Contains(".shared .align 32 .b8 stage[512];"));
  CHECK_THAT(text, Catch::Contains(".shared .align 16 .f32 sums[6];"));
  CHECK_THAT(text, Catch::Contains(".shared .u32 count;"));
  CHECK_THAT(text, Catch::Contains(".shared .align 128 .b8 tile[1024];"));
  CHECK_THAT(text, Catch::Contains(".extern .shared .align 8 .b8 rest[];"));
  CHECK_THAT(text, Catch::Contains(".shared .align 32 .b8 halves[66];"));
}

TEST_CASE("what copies by tensor maps write is aligned to more") {
  constexpr const char* kCopy =
      "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], "
      "[%rd1, {%r2}], [%r2];\n";
  CHECK_THAT(instrumented(".shared .align 4 .b8 stage[512];\n", kCopy),
             Catch::Contains(".shared .align 128 .b8 stage[512];"));
}

TEST_CASE("a kernel that needs all of its shared memory keeps it as it is") {
  const std::string tile = ".shared .align 4 .b8 small[36];\n";
  const auto with = [&](int bytes) {
    return instrumented(tile + ".shared .align 4 .b8 large[" + std::to_string(bytes) + "];\n",
                        "st.shared.u32 [small], %r1;\n");
  };
  constexpr int kAll = 48 * 1024 - 32;  // the tool's word
  CHECK_THAT(with(kAll - 64), Catch::Contains(".align 32 .b8 small[36]"));
  CHECK_THAT(with(kAll - 60), Catch::Contains(".align 4 .b8 small[36]"));
  // What other kernels declare is not this one's.
  const std::string other =
      ".visible .entry other()\n{\n.reg .b32 %r<3>;\n.shared .align 4 .b8 inner[40000];\n"
      "st.shared.u32 [inner], %r1;\nret;\n}\n";
  CHECK_THAT(instrumented(other, ".shared .align 4 .b8 mine[40000];\nst.shared.u32 [mine], %r1;\n"),
             Catch::Contains(".align 32 .b8 mine[40000]"));
}

TEST_CASE("the emulated device keeps the order, and so the alignment") {
  CHECK_THAT(instrumented(".shared .align 4 .b8 stage[512];\n", "st.shared.u32 [stage], %r1;\n",
                          {.is_emulated = true}),
             Catch::Contains(".shared .align 4 .b8 stage[512];"));
}

}  // namespace barracuda::ptx

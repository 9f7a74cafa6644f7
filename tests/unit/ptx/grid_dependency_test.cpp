// What kernels do about programmatic launches (ptx/analysis/grid_dependency.h).
#include <string>
#include <string_view>

#include <catch2/catch.hpp>

#include "ptx/instrument.h"
#include "ptx_text.h"

namespace barracuda::ptx {
namespace {

Kernel dependent_kernel(std::string_view body) {
  InstrumentedModule module = instrument_text(
      ".version 8.0\n.target sm_90\n.address_size 64\n.func other() { .reg .b32 %r1; "
      "ld.global.u32 %r1, [4096]; ret; }\n"
      ".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<4>;\n.reg .b32 %r<9>;\n"
      ".reg .b64 %rd<9>;\n.shared .align 4 .b8 tile[64];\nld.param.u64 %rd1, [p];\n"
      "mov.u32 %r1, %tid.x;\nsetp.eq.u32 %p1, %r1, 0;\n" +
      std::string(body) + "ret;\n}\n");
  REQUIRE(module.kernels.size() == 1);
  return std::move(module.kernels.front());
}

const std::string kGridWait = "griddepcontrol.wait;\n", kSeenStore = "st.global.u32 [%rd1], %r1;\n";

TEST_CASE("a kernel that waits before all that others see comes after what it depends on") {
  CHECK(dependent_kernel(kGridWait + kSeenStore).waits_first);
  CHECK(dependent_kernel("st.shared.u32 [tile], %r1;\nbar.sync 0;\n" + kGridWait + kSeenStore)
            .waits_first);
  CHECK(
      dependent_kernel("griddepcontrol.launch_dependents;\n" + kGridWait + kSeenStore).waits_first);
  CHECK(dependent_kernel("@%p1 ret;\n" + kGridWait + kSeenStore).waits_first);
  // On both ways.
  CHECK(dependent_kernel("@%p1 bra $other;\n" + kGridWait + kSeenStore + "ret;\n$other:\n" +
                         kGridWait + kSeenStore)
            .waits_first);
  CHECK_FALSE(dependent_kernel(kSeenStore).waits_first);
  CHECK_FALSE(dependent_kernel("griddepcontrol.launch_dependents;\n" + kSeenStore).waits_first);
}

TEST_CASE("one that touches memory or calls on some way before it has waited does not") {
  for (const std::string& body : {
           kSeenStore + kGridWait,
           "ld.global.u32 %r2, [%rd1];\n" + kGridWait + kSeenStore,
           "ld.global.nc.u32 %r2, [%rd1];\n" + kGridWait + kSeenStore,
           "ld.u32 %r2, [%rd1];\n" + kGridWait + kSeenStore,
           "@%p1 " + kGridWait + kSeenStore,
           "@%p1 bra $over;\n" + kGridWait + "$over:\n" + kSeenStore,
           "call other;\n" + kGridWait + kSeenStore,
           "$again:\n" + kSeenStore + kGridWait + "@%p1 bra $again;\n",
           "cp.async.ca.shared.global [tile], [%rd1], 4;\n" + kGridWait + kSeenStore,
       }) {
    INFO(body);
    CHECK_FALSE(dependent_kernel(body).waits_first);
  }
}

TEST_CASE("who lets dependents begin is known") {
  CHECK(dependent_kernel(kSeenStore + "griddepcontrol.launch_dependents;\n").lets_dependents_begin);
  CHECK_FALSE(dependent_kernel(kGridWait + kSeenStore).lets_dependents_begin);
}

}  // namespace
}  // namespace barracuda::ptx

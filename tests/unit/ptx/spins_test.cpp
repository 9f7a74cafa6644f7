// By which accesses a thread waits for another: what orders threads through shared memory is logged
// as such then, with no fence in sight.
#include <string>

#include <catch2/catch.hpp>

#include "ptx/instrument.h"
#include "ptx_text.h"

namespace barracuda::ptx {
namespace {

// Whether the volatile accesses of a loop that goes on while %r1 and %r2 differ are
// synchronisation.
bool waits(const std::string& body) {
  return instrument_text(
             ".version 7.8\n.target sm_90\n.address_size 64\n"
             ".shared .align 4 .b8 tile[64];\n"
             ".visible .entry k()\n{\n.reg .pred %p<2>;\n.reg .b32 %r<9>;\n$to:\n" +
             body + "setp.ne.u32 %p1, %r2, %r1;\n@%p1 bra $to;\nret;\n}\n")
             .text.find("__barracuda_acquire") != std::string::npos;
}

}  // namespace

TEST_CASE("a thread waits for what it does not overwrite") {
  const std::string load = "ld.volatile.shared.u32 %r2, [%r5+4];\n",
                    store = "st.volatile.shared.u32 [%r5+4], %r1;\n";
  CHECK(waits(load));
  CHECK(waits("st.volatile.shared.u32 [%r5], %r1;\n" + load));
  CHECK_FALSE(waits(store + load));
  CHECK_FALSE(waits(load + store));
  CHECK(waits(store + "add.u32 %r5, %r5, 4;\n" + load));  // of another place
}

}  // namespace barracuda::ptx

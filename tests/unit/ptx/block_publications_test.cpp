// Which accesses to global memory are kept in states in kernels whose blocks tell each other of
// what they did: those that come after all of it.
#include <string>
#include <string_view>

#include <catch2/catch.hpp>

#include "device_logger/site_word.h"
#include "ptx_text.h"

namespace barracuda::ptx {
namespace {

InstrumentedModule instrument_with(const std::string& body) {
  return instrument_text(
      kernel_text(".reg .pred %p<4>;\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n" + body + "ret;\n"));
}

}  // namespace

TEST_CASE("of what blocks tell each other, accesses are kept that come after all of it") {
  // How many stores are kept, of those of global memory.
  const auto kept = [](const std::string& body) {
    const InstrumentedModule module = instrument_with(body);
    std::ptrdiff_t count = 0;
    for (std::size_t at = module.text.find(".entry");
         (at = module.text.find("[__barracuda_p0], ", at)) != std::string::npos; ++at) {
      const std::size_t call = module.text.find("call ", at);
      const bool is_store =
          module.text.compare(module.text.find(", ", call) + 2, 21, "__barracuda_owns_stor") == 0;
      count +=
          is_store && (std::stoul(module.text.substr(at + 18)) & wire::kAlwaysLogged) == 0 ? 1 : 0;
    }
    CHECK((count != 0) == module.kernels[0].keeps_owners);
    return count;
  };
  const std::string store = "st.global.u32 [%rd1], %r1;\n", barrier = "bar.sync 0;\n";
  const std::string release = "st.release.gpu.global.u32 [%rd2], %r1;\n";
  const std::string fence = "membar.gl;\n", again = "@%p1 bra $again;\n";
  CHECK(kept(store) == 1);
  CHECK(kept(release + store) == 1);
  CHECK(kept(release + store + barrier + store) == 2);
  CHECK(kept(store + barrier + release + barrier + store + "st.global.u32 [%rd3], %r1;\n") == 2);
  CHECK(kept(store + release) == 0);
  CHECK(kept(store + barrier + fence) == 0);
  CHECK(kept("$again:\n" + release + store + again) == 0);
  // Not worth it where most are told.
  CHECK(kept(store + barrier + release + barrier + store) == 0);
  // A fence of the block tells no other block.
  CHECK(kept(release + store + barrier + "membar.cta;\n") == 1);
}

TEST_CASE("who meets a thread of its block may tell others of what that one did") {
  const auto keeps_owners = [](const std::string& body) {
    return instrument_with(body).kernels[0].keeps_owners;
  };
  const std::string store = "st.global.u32 [%rd1], %r1;\n", barrier = "bar.sync 0;\n";
  const std::string release = "st.release.gpu.global.u32 [%rd2], %r1;\n";
  const std::string meets = "bar.warp.sync -1;\n";
  // Threads with %p1 store and wait for those without, who then tell other blocks.
  const std::string apart = "@%p1 bra $there;\n" + meets + release + "bra $end;\n$there:\n" + store;
  CHECK(keeps_owners(apart + "$end:\n"));
  CHECK_FALSE(keeps_owners(apart + meets + "$end:\n"));
  CHECK_FALSE(keeps_owners(apart + "@%p2 bar.sync 0;\n" + meets + "$end:\n"));
  // Nobody is in front of a barrier of all and behind it.
  CHECK(keeps_owners(meets + release + barrier + store + barrier + meets));
  CHECK_FALSE(keeps_owners(meets + release + meets + store + barrier + meets + release));
  // Behind the barrier some tell the others, who tell other blocks.
  CHECK_FALSE(keeps_owners(store + barrier + apart + meets + "$end:\n"));
  // At barriers to which not all come together they meet as well.
  const std::string divided =
      "mov.u32 %r5, %tid.x;\nsetp.eq.u32 %p1, %r5, 1;\n@%p1 bra $there;\nbar.sync 0;\n" + release +
      "bra $end;\n$there:\n";
  CHECK(keeps_owners(divided + store + "$end:\n"));
  CHECK_FALSE(keeps_owners(divided + store + "bar.sync 0;\n$end:\n"));
}

TEST_CASE("where whole grids meet no word of global memory has a state") {
  const std::string body =
      "st.release.gpu.global.u32 [%rd2], %r1;\nbar.sync 0;\nst.global.u32 [%rd1], %r1;\n";
  CHECK(instrument_with("mov.u32 %r4, %envreg3;\n" + body).kernels[0].keeps_owners);
  CHECK_FALSE(instrument_with("mov.u32 %r4, %envreg1;\n" + body).kernels[0].keeps_owners);
}

}  // namespace barracuda::ptx

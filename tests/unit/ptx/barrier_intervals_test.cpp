// In which kernels the words of shared memory have states: those that barriers alone order.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

#include "ptx/instrument.h"
#include "ptx_text.h"

namespace barracuda::ptx {
namespace {

constexpr std::string_view kHead =
    ".version 7.8\n.target sm_90\n.address_size 64\n"
    ".shared .align 4 .b8 tile[64];\n"
    ".func helper() { .reg .b32 %r<2>; ld.shared.u32 %r1, [tile]; ret; }\n"
    ".func harmless() { ret; }\n";

InstrumentedModule instrument_with(std::string_view body) {
  std::vector<Module> units;
  units.push_back(parse_module(std::string(kHead) +
                               ".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<4>;\n"
                               ".reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n" +
                               std::string(body) + "ret;\n}\n"));
  auto instrumented = instrument(std::move(units), {});
  REQUIRE(instrumented);
  return std::move(*instrumented);
}

bool keeps_states(std::string_view body) {
  return instrument_with(body).kernels[0].keeps_states;
}

constexpr const char* kTile =
    "st.shared.u32 [tile], %r1;\nbar.sync 0;\nld.shared.u32 %r2, [tile];\n";

}  // namespace

TEST_CASE("words of shared memory have states where barriers of the block alone order threads") {
  const std::string tile = kTile;
  CHECK(keeps_states(tile));
  CHECK(keeps_states(tile + "atom.shared.add.u32 %r3, [tile], 1;\n"));
  CHECK(keeps_states(tile + "red.global.add.u32 [%rd1], 1;\nst.global.u32 [%rd1], %r2;\n"));
  CHECK(keeps_states(tile + "bar.red.popc.u32 %r3, 1, %p1;\n"));
  CHECK(keeps_states("ld.u32 %r2, [%rd1];\n"));  // it may be
  CHECK(keeps_states(tile + "call harmless;\n"));
  for (const std::string_view other :
       {"membar.cta;\n", "fence.acq_rel.gpu;\n", "bar.warp.sync -1;\n", "bar.sync 1, 32;\n",
        "bar.arrive 1, 64;\n", "@%p1 bar.sync 0;\n", "ld.acquire.gpu.global.u32 %r3, [%rd1];\n",
        "atom.global.add.u32 %r3, [%rd1], 1;\nst.global.u32 [%rd1], %r3;\n", "call helper;\n",
        "cp.async.ca.shared.global [tile], [%rd1], 4;\n", "ld.shared::cluster.u32 %r3, [%r4];\n",
        "barrier.cluster.arrive;\n", "mbarrier.init.shared.b64 [tile], 1;\n"}) {
    INFO(other);
    CHECK_FALSE(keeps_states(tile + std::string(other)));
  }
  CHECK_FALSE(keeps_states("st.global.u32 [%rd1], %r2;\nbar.sync 0;\n"));
}

TEST_CASE("the interval is counted behind each barrier, and each hook of shared memory has it") {
  const std::string text = instrument_with(kTile).text;
  const std::size_t barrier = text.find("bar.sync 0;"),
                    next = text.find("__barracuda_next_interval,");
  CHECK(text.find("mov.b32 %__barracuda_interval, 0;") < barrier);
  CHECK(text.rfind("(__barracuda_result), __barracuda_next_interval") > barrier);
  CHECK(next != std::string::npos);
  CHECK(text.find("(__barracuda_result), __barracuda_shared_store,") < barrier);
  CHECK(text.rfind("(__barracuda_result), __barracuda_shared_access,") > barrier);
  CHECK(instrument_with("st.global.u32 [%rd1], %r1;\n").text.find("interval") == std::string::npos);
}

TEST_CASE("states name the sites of their kernel from its first on") {
  const InstrumentedModule module =
      instrument_with(std::string("st.global.u32 [%rd1], %r1;\n") + kTile);
  REQUIRE(module.kernels[0].keeps_states);
  const auto store = std::ranges::find(module.sites, "st.shared.u32", &Site::instruction);
  REQUIRE(store != module.sites.end());
  CHECK(module.kernels[0].state_sites == store->id);
}

}  // namespace barracuda::ptx

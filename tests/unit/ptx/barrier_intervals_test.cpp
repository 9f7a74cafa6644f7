// In which kernels the words of shared memory have states, and which accesses are kept there: those
// of threads that publish nothing before their block's next barrier.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

#include "device_logger/site_word.h"
#include "ptx/instrument.h"
#include "ptx_text.h"
#include "tile_kernel.h"

namespace barracuda::ptx {
namespace {

bool keeps_states(std::string_view body) {
  return instrument_with(body).kernels[0].keeps_states;
}

}  // namespace

TEST_CASE("asynchronous copies of threads have states where all meet at barriers of the block") {
  const std::string copy =
      "cp.async.ca.shared.global [tile], [%rd1], 4;\ncp.async.commit_group;\n"
      "cp.async.wait_group 1;\n";
  const auto keeps_copies = [](const std::string& body) {
    const auto kernel = instrument_with(body).kernels[0];
    CHECK(kernel.keeps_states == kernel.keeps_copies);
    return kernel.keeps_copies;
  };
  CHECK(keeps_copies(copy + kTileRound));
  CHECK(keeps_copies(copy + "cp.async.wait_all;\n"));
  CHECK(keeps_copies("@%p1 cp.async.commit_group;\n" + copy));
  CHECK_FALSE(keeps_copies(copy + "membar.cta;\n"));
  CHECK_FALSE(keeps_copies(copy + "bar.warp.sync -1;\n"));
  CHECK_FALSE(keeps_copies(copy + "cp.async.mbarrier.arrive.shared.b64 [tile];\n"));
  CHECK_FALSE(keeps_copies(copy + "ld.acquire.gpu.global.u32 %r3, [%rd1];\n"));
  CHECK_FALSE(keeps_copies("mov.u32 %r1, %tid.x;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra leave;\n" +
                           copy + "bar.sync 0;\nleave:\n"));
  // A copy of 16 bytes has no state of bytes.
  const std::string large =
      "cp.async.cg.shared.global [tile], [%rd1], 16;\nst.shared.u8 [tile], %r1;\n";
  CHECK_FALSE(keeps_copies(large));
  CHECK(keeps_copies(copy + "st.shared.u8 [tile], %r1;\n"));
}

TEST_CASE("words of shared memory have states where barriers of the block alone order threads") {
  const std::string tile = kTileRound;
  CHECK(keeps_states(tile));
  CHECK(keeps_states(tile + "atom.shared.add.u32 %r3, [tile], 1;\n"));
  CHECK(keeps_states(tile + "red.global.add.u32 [%rd1], 1;\nst.global.u32 [%rd1], %r2;\n"));
  CHECK(keeps_states(tile + "bar.red.popc.u32 %r3, 1, %p1;\n"));
  CHECK(keeps_states("ld.u32 %r2, [%rd1];\n"));  // it may be
  CHECK(keeps_states(tile + "call harmless;\n"));
  CHECK(keeps_states(tile + "call __internal_trig_reduction_slowpathd;\n"));  // CUDA's own
  CHECK(keeps_states(tile + "tex.2d.v4.f32.f32 {%r1, %r2, %r3, %r4}, [%rd1, {%r5, %r6}];\n"));
  for (const std::string_view other :
       {"call helper;\n", "call reads_table;\n",
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd1], 16, "
        "[tile];\n",
        "ld.shared::cluster.u32 %r3, [%r4];\n", "barrier.cluster.arrive;\n",
        "mbarrier.init.shared.b64 [tile], 1;\n"}) {
    INFO(other);
    CHECK_FALSE(keeps_states(tile + std::string(other)));
  }
  CHECK_FALSE(keeps_states("st.global.u32 [%rd1], %r2;\nbar.sync 0;\n"));
  CHECK(instrument_with("st.global.u32 [%rd1], %r2;\n").kernels[0].has_block_events);
  CHECK_FALSE(instrument_with("membar.gl;\n").kernels[0].has_block_events);
}

TEST_CASE("where there may be states, a block begins with them, and all its threads meet then") {
  const auto begins = [](std::string_view body) {
    const std::string text = instrument_with(body).text;
    const std::size_t call = text.find("__barracuda_begin_block, (", text.find(".entry"));
    return call != std::string::npos &&
           text.find("barrier.sync 0;", call) < text.find("tile", call);
  };
  CHECK(begins(kTileRound));
  CHECK_FALSE(begins(std::string("mbarrier.init.shared.b64 [tile], 1;\n") + kTileRound));
}

TEST_CASE("an access is kept in a state unless its thread may publish before the next barrier") {
  // A store beside a fence may be that of a flag, which synchronises.
  const std::string load = kTileLoad, barrier = kTileBarrier, fence = "membar.gl;\n";
  const std::string branch = "setp.lt.u32 %p1, %r1, 9;\n@%p1 bra $to;\n";
  CHECK(keeps_states(load + barrier + fence));
  CHECK(keeps_states(fence + load));
  CHECK(keeps_states(load + "ld.acquire.gpu.global.u32 %r3, [%rd1];\n"));
  CHECK_FALSE(keeps_states(load + "atom.global.add.u32 %r3, [%rd1], 1;\n" + fence));
  // A relaxed access lets nobody know of what no fence came after.
  CHECK(keeps_states(load + "atom.global.add.u32 %r3, [%rd1], 1;\nst.global.u32 [%rd1], %r3;\n"));
  for (const std::string& publishes :
       {fence, std::string("membar.cta;\n"), std::string("fence.acq_rel.gpu;\n"),
        std::string("bar.warp.sync 15;\n"), std::string("bar.sync 1, 32;\n"),
        std::string("bar.arrive 1, 64;\n"), std::string("@%p1 bar.sync 0;\n"),
        std::string("st.release.gpu.global.u32 [%rd1], %r1;\n")}) {
    INFO(publishes);
    CHECK_FALSE(keeps_states(load + publishes));
    CHECK_FALSE(keeps_states(load + branch + barrier + "$to:\n" + publishes));
    CHECK_FALSE(keeps_states(load + "@%p1 exit;\n" + publishes));
    CHECK(keeps_states(load + barrier + load + publishes));
    CHECK(keeps_states(publishes + load + barrier));
    // Round a loop it comes to what stands before it.
    CHECK_FALSE(keeps_states("$to:\n" + publishes + load + branch));
    CHECK(keeps_states("$to:\n" + publishes + load + barrier + branch));
    CHECK_FALSE(keeps_states("$to:\n" + publishes + load +
                             "@%p2 bra $over;\nmov.u32 %r5, 1;\n$over:\n" + branch));
  }
}

TEST_CASE("a store is kept before all that its thread publishes, and said to be so") {
  const std::string store = kTileStore, load = kTileLoad, barrier = kTileBarrier,
                    fence = "membar.cta;\n";
  const auto come_first = [](const std::string& body) {
    std::vector<bool> found;  // of the stores to shared memory
    for (const Site& site : instrument_with(body).sites) {
      if (site.instruction.starts_with("st.")) {
        found.push_back(site.info.is_before_publications);
      }
    }
    return found;
  };
  const auto are = [](std::initializer_list<bool> stores) { return std::vector<bool>(stores); };
  CHECK(keeps_states(store + fence));
  CHECK(come_first(store + fence) == are({true}));
  CHECK(come_first(store + "bar.warp.sync 15;\n") == are({true}));
  CHECK(come_first(store + barrier + fence) == are({false}));  // nobody learns of it: no need
  CHECK(come_first(store + barrier + store + fence + store) == are({false, true, false}));
  CHECK(come_first(fence + store + fence) == are({false}));
  CHECK(come_first(fence + barrier + load + store + fence) == are({true}));
  CHECK(come_first("$to:\n" + store + fence + "@%p1 bra $to;\n") == are({false}));
  CHECK(come_first("st.volatile.shared.u32 [tile], %r1;\n" + fence) == are({false}));
  // Barriers that not all of the block come to leave what is known of a thread as it is.
  CHECK(come_first(store + fence + barrier + "bar.sync 1, 32;\n") == are({false}));
  CHECK(come_first(store + fence + barrier + "@%p1 bar.sync 0;\n") == are({false}));
}

TEST_CASE("what orders threads through memory that may have states has them logged first") {
  constexpr const char* kRelease = "st.release.gpu.shared.u32 [tile], %r1;\n";
  const auto logs = [](const std::string& access) {
    const std::string text =
        instrument_with(std::string(kTileStore) + kTileBarrier + access + "membar.gl;\n").text;
    const std::size_t hook = text.find("__barracuda_log_states", text.find(".entry"));
    return hook != std::string::npos && hook < text.find("__barracuda_release_begin", hook);
  };
  const std::string text = instrument_with(std::string(kTileStore) + kTileBarrier + kRelease).text;
  const std::size_t word =
      text.rfind("[__barracuda_p0], ", text.find("__barracuda_log_states, (", text.find(".entry")));
  CHECK((std::stoul(text.substr(word + 18)) & wire::kAlwaysLogged) != 0);  // no state keeps it
  CHECK(logs(kRelease));
  CHECK(logs("atom.acq_rel.gpu.add.u32 %r3, [%rd1], 1;\n"));  // generic
  CHECK_FALSE(logs("st.release.gpu.global.u32 [%rd1], %r1;\n"));
}

TEST_CASE("memory that a launch writes has states where no block learns of another") {
  const auto keeps_owners = [](const std::string& body) {
    return instrument_with(body).kernels[0].keeps_owners;
  };
  const std::string store = "st.global.u32 [%rd1], %r1;\n", barrier = kTileBarrier;
  CHECK(keeps_owners(store + barrier + "bar.warp.sync -1;\n"));
  CHECK(keeps_owners(store + barrier + "membar.cta;\n"));
  CHECK(keeps_owners(store + barrier + "ld.acquire.gpu.global.u32 %r3, [%rd1];\n"));
  CHECK_FALSE(keeps_owners(store + barrier + "membar.gl;\n"));
  CHECK_FALSE(keeps_owners(store + barrier + "st.release.gpu.global.u32 [%rd1], %r1;\n"));
  CHECK_FALSE(keeps_owners(store + "bar.warp.sync 15;\n"));
  CHECK(instrument_with(store + barrier + "ld.acquire.gpu.global.u32 %r3, [%rd1];\n")
            .text.find("__barracuda_log_owners") != std::string::npos);
}

TEST_CASE("the interval is counted behind each barrier, and each hook of shared memory has it") {
  const std::string text = instrument_with(kTileRound).text;
  const std::size_t barrier = text.find("bar.sync 0;"),
                    next = text.find("__barracuda_count_interval,");
  CHECK(text.find("mov.b32 %__barracuda_interval, 0;") < barrier);
  CHECK(text.rfind("(__barracuda_result), __barracuda_count_interval") > barrier);
  CHECK(next != std::string::npos);
  CHECK(text.find("(__barracuda_result), __barracuda_keep_store,") < barrier);
  CHECK(text.rfind("call __barracuda_followed_access,") > barrier);
  CHECK(instrument_with("membar.gl;\n").text.find("interval") == std::string::npos);
}

// What the words of accesses that states follow say of their uses, in the order of the text.
std::vector<std::uint32_t> uses_in(const std::string& body) {
  const std::string text = instrument_with(body).text;
  std::vector<std::uint32_t> found;
  for (std::size_t call = 0;
       (call = text.find("__barracuda_followed_access,", call)) != std::string::npos; ++call) {
    const std::size_t word = text.rfind("[__barracuda_p0], ", call);
    constexpr std::uint32_t kBits = wire::kPlainRead | wire::kPlainWrite | wire::kAlwaysLogged;
    found.push_back(static_cast<std::uint32_t>(std::stoul(text.substr(word + 18))) & kBits);
  }
  return found;
}

TEST_CASE("loads of an interval without a write are not asked about: who comes there logs") {
  const std::string text = instrument_with(kTileRound).text;
  CHECK(text.find("__barracuda_keep_load,") == std::string::npos);
  CHECK(instrument_with(std::string(kTileBarrier) + kTileLoad + "st.shared.u32 [tile], %r2;\n" +
                        kTileBarrier)
            .text.find("__barracuda_keep_load,") != std::string::npos);
}

TEST_CASE("loads and stores of matrices have states, but for pieces that may be unaligned") {
  const std::string rows = "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [tile];\n",
                    barrier = kTileBarrier,
                    large =
                        "wmma.load.a.sync.aligned.row.m32n8k16.shared.f16 "
                        "{%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [tile];\n",
                    store = "stmatrix.sync.aligned.m8n8.x1.shared.b16 [tile], {%r2};\n";
  CHECK(instrument_with(rows + barrier + store).kernels[0].keeps_states);
  CHECK(uses_in(rows + barrier + store) ==
        std::vector<std::uint32_t>{wire::kPlainRead, wire::kPlainWrite});
  CHECK(uses_in(large + barrier + store) ==
        std::vector<std::uint32_t>{wire::kPlainRead | wire::kAlwaysLogged, wire::kPlainWrite});
}

TEST_CASE("volatile accesses of shared memory have states, which know that they are") {
  const auto words = uses_in;
  const std::string load = "ld.volatile.shared.u32 %r2, [tile];\n",
                    store = "st.volatile.shared.u32 [tile], %r2;\n", barrier = kTileBarrier,
                    weak = kTileLoad;
  const std::vector<std::uint32_t> both{wire::kLoadsStrongly, wire::kStoresStrongly};
  CHECK(words(load + barrier + store) == both);
  CHECK(words(load + barrier + store + barrier + weak) ==
        std::vector<std::uint32_t>{wire::kLoadsStrongly, wire::kStoresStrongly, wire::kPlainRead});
}

TEST_CASE("a volatile access of shared memory synchronises if no barrier parts it from a fence") {
  const auto acquires = [](const std::string& body) {
    return instrument_with(body).text.find("__barracuda_acquire") != std::string::npos;
  };
  const auto releases = [](const std::string& body) {
    return instrument_with(body).text.find("__barracuda_release_begin,") != std::string::npos;
  };
  const std::string fence = "membar.gl;\n", barrier = kTileBarrier, between = kTileLoad;
  const std::string loop = "setp.lt.u32 %p1, %r1, 9;\n@%p1 bra $to;\n";
  const std::string load = "ld.volatile.shared.u32 %r2, [tile];\n";
  CHECK(acquires(load + between + fence));
  CHECK(acquires(load + "@%p1 bra $over;\n" + barrier + "$over:\n" + fence));
  CHECK(acquires("$to:\n" + fence + between + load + loop));
  CHECK_FALSE(acquires(fence + between + load));
  CHECK_FALSE(acquires(load + barrier + fence));
  CHECK_FALSE(acquires("$to:\n" + fence + between + load + barrier + loop));
  CHECK(acquires("ld.volatile.u32 %r2, [%rd1];\n" + barrier + fence));  // of any memory
  const std::string store = between + "st.volatile.shared.u32 [tile], %r2;\n";
  CHECK(releases(fence + store));
  CHECK(releases("$to:\n" + store + fence + loop));
  CHECK_FALSE(releases(store + fence));
  CHECK_FALSE(releases(fence + between + barrier + store));
  CHECK_FALSE(releases("$to:\n" + store + fence + between + barrier + loop));
  CHECK(releases(fence + "barrier.cluster.arrive;\n" + barrier + store));
}

TEST_CASE("an atomic of shared memory orders nothing far from fences and from other accesses") {
  // Whether all atomics of the kernel are logged as ordinary accesses are.
  const auto are_plain = [](const std::string& body) {
    const std::string text = instrument_with(body).text;
    return text.find("__barracuda_acquire,") == std::string::npos;
  };
  const std::string fence = "membar.gl;\n", barrier = kTileBarrier, load = kTileLoad,
                    atomic = "atom.shared.add.u32 %r2, [tile], 1;\nmov.u32 %r3, %r2;\n",
                    red = "red.shared.add.u32 [tile], 1;\n",
                    store = "st.shared.u32 [tile+4], %r3;\n";
  const std::string behind = barrier + fence, loop = "setp.lt.u32 %p1, %r1, 9;\n@%p1 bra $to;\n";
  CHECK(are_plain(fence + barrier + load + atomic + behind));
  CHECK(
      are_plain(fence + barrier + store + atomic + red + "bar.warp.sync -1;\n" + atomic + behind));
  CHECK(are_plain("$to:\n" + atomic + barrier + loop + store + behind));
  CHECK_FALSE(are_plain(fence + atomic + behind));
  CHECK_FALSE(are_plain(atomic + fence));
  // The last to come may use the word by itself.
  CHECK_FALSE(are_plain(atomic + "setp.eq.u32 %p1, %r3, 9;\n@%p1 " + store + behind));
  CHECK_FALSE(are_plain(atomic + "bar.warp.sync -1;\n" + load + behind));
  CHECK_FALSE(are_plain("$to:\n" + store + atomic + loop + behind));
  // One that is logged has to know of all.
  CHECK_FALSE(are_plain(atomic + barrier + atomic + store + behind));
  CHECK_FALSE(are_plain(atomic + barrier + "atom.add.u32 %r2, [%rd1], 1;\n" + behind));
  CHECK_FALSE(are_plain("atom.acquire.cta.shared.add.u32 %r2, [tile], 1;\n" + behind));
  // In a kernel that waits in a loop for a word of shared memory they stay logged, so that the
  // report can name a missing fence. A wait for global memory does not matter.
  const std::string wait =
      "ld.volatile.SPACE.u32 %r4, [ADDRESS];\nsetp.eq.u32 %p2, %r4, 0;\n"
      "@%p2 bra $wait;\n";
  const auto waiting = [&](const std::string& space, const std::string& address) {
    std::string text = wait;
    text.replace(text.find("SPACE"), 5, space);
    text.replace(text.find("ADDRESS"), 7, address);
    return atomic + barrier + "$wait:\n" + text + behind;
  };
  CHECK_FALSE(are_plain(waiting("shared", "tile")));
  const std::string of_global = instrument_with(waiting("global", "%rd1")).text;
  CHECK(of_global.find("__barracuda_release_end,") == std::string::npos);
}

TEST_CASE("what griddepcontrol orders are launches, not threads") {
  const std::string tile = kTileRound;
  CHECK(keeps_states("griddepcontrol.wait;\n" + tile));
  CHECK(keeps_states(tile + "griddepcontrol.launch_dependents;\n"));
  CHECK_FALSE(
      instrument_with("griddepcontrol.wait;\n" + tile).text.find("mov.b32 %__barracuda_interval") ==
      std::string::npos);
}

TEST_CASE("as many barriers of whole warps are counted as the kernel may need") {
  const auto counts = [](std::size_t barriers, std::string_view first) {
    std::string body = kTileLoad;
    for (std::size_t i = 0; i < barriers; ++i) {
      body += "bar.warp.sync -1;\nst.shared.u32 [tile], %r1;\n";
    }
    return instrument_with(body).text.find("mov.b32 %__barracuda_interval, " + std::string(first) +
                                           ";") != std::string::npos;
  };
  CHECK(counts(6, "32768"));
  CHECK(counts(7, "40960"));
}

TEST_CASE("barriers of whole warps are counted where all threads come to those of the block") {
  const auto counts = [](const std::string& body) {
    return instrument_with(body).text.find("mov.b32 %__barracuda_interval, 32768;") !=
           std::string::npos;
  };
  const std::string load = kTileLoad, barrier = kTileBarrier, whole = "bar.warp.sync -1;\n";
  CHECK(keeps_states(load + whole));
  CHECK(counts(load + whole));
  CHECK(counts(load + barrier + whole));
  CHECK_FALSE(counts(load + barrier + "bar.warp.sync 15;\n"));
  CHECK_FALSE(counts(load + barrier + "@%p1 bar.warp.sync -1;\n"));
  CHECK_FALSE(counts(load + barrier + whole + "bar.sync 1, 32;\n"));
  CHECK_FALSE(counts("mov.u32 %r7, %tid.x;\nsetp.lt.u32 %p2, %r7, 9;\n@%p2 ret;\n" + load +
                     barrier + load + whole));
  CHECK_FALSE(counts("st.global.u32 [%rd1], %r1;\nmembar.gl;\n" + whole));
}

TEST_CASE("what else orders threads of a warp has its counted barriers told first") {
  const auto tells = [](const std::string& other) {
    const std::string text =
        instrument_with(std::string(kTileLoad) + "bar.warp.sync -1;\n" + kTileBarrier + other).text;
    const std::size_t begin = text.find("bar.sync 0;");
    REQUIRE(begin != std::string::npos);
    return text.find("__barracuda_tell_barriers,", begin) != std::string::npos;
  };
  CHECK(tells("membar.gl;\n"));
  CHECK(tells("bar.warp.sync 15;\n"));
  CHECK(tells("st.release.gpu.global.u32 [%rd1], %r1;\n"));
  CHECK(tells("ld.acquire.gpu.global.u32 %r3, [%rd1];\n"));
  CHECK_FALSE(tells("st.shared.u32 [tile], %r1;\n"));
}

TEST_CASE("loads past coherence have no states") {
  const auto is_logged = [](const std::string& load) {
    const std::string text = instrument_with(load + "st.global.u32 [%rd2], %r2;\n").text;
    const std::size_t call = text.find("__barracuda_followed_global_access,",
                                       text.find("mov.b32 %__barracuda_interval"));
    REQUIRE(call != std::string::npos);
    const std::size_t word = text.rfind("[__barracuda_p0], ", call);
    return (std::stoul(text.substr(word + 18)) & wire::kAlwaysLogged) != 0;
  };
  CHECK(is_logged("ld.global.nc.u32 %r2, [%rd1];\n"));
  CHECK_FALSE(is_logged("ld.global.u32 %r2, [%rd1];\n"));
}

TEST_CASE("states name the sites of their kernel from its first access on") {
  const InstrumentedModule module =
      instrument_with(std::string("st.global.u32 [%rd1], %r1;\n") + kTileRound);
  REQUIRE(module.kernels[0].keeps_states);
  REQUIRE(module.kernels[0].keeps_owners);
  const auto store = std::ranges::find(module.sites, "st.global.u32", &Site::instruction);
  REQUIRE(store != module.sites.end());
  CHECK(module.kernels[0].state_sites == store->id);
}

TEST_CASE("memory is watched by granules of a kernel's smallest access to it") {
  const std::string word = "st.global.u32 [%rd1], %r1;\n";
  CHECK(instrument_with(word).kernels[0].owner_granule_log2 == 2);
  CHECK(instrument_with(word + "ld.u8 %r2, [%rd1+8];\n").kernels[0].owner_granule_log2 == 0);
  CHECK(instrument_with(word + kTileRound).kernels[0].owner_granule_log2 == 2);
  CHECK_FALSE(instrument_with(word + "membar.gl;\n").kernels[0].keeps_owners);
  CHECK_FALSE(instrument_with(kTileRound).kernels[0].keeps_owners);
}

TEST_CASE("who leaves before any barrier and any access that is kept leaves nothing behind") {
  const auto has_early_exit = [](const std::string& body) {
    return instrument_with(body).text.find("mov.b32 %__barracuda_interval, 65536;") !=
           std::string::npos;
  };
  const std::string guard = "mov.u32 %r7, %tid.x;\nsetp.lt.u32 %p1, %r7, 9;\n",
                    leave = "@%p1 bra $to;\n", tile = kTileRound, to = "$to:\n",
                    read = "ld.global.u32 %r4, [%rd1];\n";
  CHECK(has_early_exit(guard + leave + tile + to));
  CHECK(has_early_exit(guard + "@%p1 ret;\n" + tile));
  CHECK(has_early_exit(guard + leave + tile + leave + kTileBarrier + kTileLoad + to));
  CHECK_FALSE(has_early_exit(guard + read + leave + tile + "st.global.u32 [%rd1], %r2;\n" + to));
  CHECK_FALSE(has_early_exit(guard + kTileStore + leave + kTileBarrier + kTileLoad + to));
  CHECK_FALSE(has_early_exit(guard + leave + kTileStore + leave + kTileBarrier + kTileLoad + to));
  CHECK_FALSE(has_early_exit(guard + kTileStore + "@%p1 bar.sync 0;\n" + leave + tile + to));
}

}  // namespace barracuda::ptx

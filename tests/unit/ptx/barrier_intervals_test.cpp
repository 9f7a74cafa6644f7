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

namespace barracuda::ptx {
namespace {

constexpr std::string_view kHead =
    ".version 7.8\n.target sm_90\n.address_size 64\n"
    ".shared .align 4 .b8 tile[64];\n"
    ".func helper() { .reg .b32 %r<2>; ld.shared.u32 %r1, [tile]; ret; }\n"
    ".func harmless() { ret; }\n"
    ".global .align 4 .u32 table[2] = {1, 2};\n"
    ".func __internal_trig_reduction_slowpathd() { .reg .b32 %r<2>; ld.global.nc.u32 %r1, [table]; "
    "ret; }\n"
    ".func reads_table() { .reg .b32 %r<2>; ld.global.nc.u32 %r1, [table]; ret; }\n";

InstrumentedModule instrument_with(std::string_view body) {
  return instrument_text(std::string(kHead) +
                         ".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<4>;\n"
                         ".reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n" +
                         std::string(body) + "ret;\n}\n");
}

bool keeps_states(std::string_view body) {
  return instrument_with(body).kernels[0].keeps_states;
}

constexpr const char* kStore = "st.shared.u32 [tile], %r1;\n";
constexpr const char* kLoad = "ld.shared.u32 %r2, [tile];\n";
constexpr const char* kBarrier = "bar.sync 0;\n";
constexpr const char* kTile =
    "st.shared.u32 [tile], %r1;\nbar.sync 0;\nld.shared.u32 %r2, [tile];\n";

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
  CHECK(keeps_copies(copy + kTile));
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
  const std::string tile = kTile;
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
  CHECK(begins(kTile));
  CHECK_FALSE(begins(std::string("mbarrier.init.shared.b64 [tile], 1;\n") + kTile));
}

TEST_CASE("an access is kept in a state unless its thread may publish before the next barrier") {
  // A store beside a fence may be that of a flag, which synchronises.
  const std::string load = kLoad, barrier = kBarrier, fence = "membar.gl;\n";
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
  const std::string store = kStore, load = kLoad, barrier = kBarrier, fence = "membar.cta;\n";
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
        instrument_with(std::string(kStore) + kBarrier + access + "membar.gl;\n").text;
    const std::size_t hook = text.find("__barracuda_log_states", text.find(".entry"));
    return hook != std::string::npos && hook < text.find("__barracuda_release_begin", hook);
  };
  const std::string text = instrument_with(std::string(kStore) + kBarrier + kRelease).text;
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
  const std::string store = "st.global.u32 [%rd1], %r1;\n", barrier = kBarrier;
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
  const std::string text = instrument_with(kTile).text;
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
  const std::string text = instrument_with(kTile).text;
  CHECK(text.find("__barracuda_keep_load,") == std::string::npos);
  CHECK(instrument_with(std::string(kBarrier) + kLoad + "st.shared.u32 [tile], %r2;\n" + kBarrier)
            .text.find("__barracuda_keep_load,") != std::string::npos);
}

TEST_CASE("loads and stores of matrices have states, but for pieces that may be unaligned") {
  const std::string rows = "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [tile];\n",
                    barrier = kBarrier,
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
                    store = "st.volatile.shared.u32 [tile], %r2;\n", barrier = kBarrier,
                    weak = kLoad;
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
  const std::string fence = "membar.gl;\n", barrier = kBarrier, between = kLoad;
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
  const std::string fence = "membar.gl;\n", barrier = kBarrier, load = kLoad,
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
  const std::string tile = kTile;
  CHECK(keeps_states("griddepcontrol.wait;\n" + tile));
  CHECK(keeps_states(tile + "griddepcontrol.launch_dependents;\n"));
  CHECK_FALSE(
      instrument_with("griddepcontrol.wait;\n" + tile).text.find("mov.b32 %__barracuda_interval") ==
      std::string::npos);
}

TEST_CASE("as many barriers of whole warps are counted as the kernel may need") {
  const auto counts = [](std::size_t barriers, std::string_view first) {
    std::string body = kLoad;
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
  const std::string load = kLoad, barrier = kBarrier, whole = "bar.warp.sync -1;\n";
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
        instrument_with(std::string(kLoad) + "bar.warp.sync -1;\n" + kBarrier + other).text;
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
      instrument_with(std::string("st.global.u32 [%rd1], %r1;\n") + kTile);
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
  CHECK(instrument_with(word + kTile).kernels[0].owner_granule_log2 == 2);
  CHECK_FALSE(instrument_with(word + "membar.gl;\n").kernels[0].keeps_owners);
  CHECK_FALSE(instrument_with(kTile).kernels[0].keeps_owners);
}

namespace {

// How many loads have a hook that threads go round.
std::ptrdiff_t skipped_loads(std::string_view body) {
  const std::string text = instrument_with(body).text;
  std::ptrdiff_t count = 0;
  for (std::size_t at = 0; (at = text.find("setp.lt.u32 %__barracuda_f, %__barracuda_interval,",
                                           at)) != std::string::npos;
       ++at) {
    ++count;
  }
  return count;
}

bool counts_events(std::string_view body) {
  const InstrumentedModule module = instrument_with(body);
  REQUIRE(module.kernels[0].keeps_states);
  return module.text.find("add.u32 %__barracuda_interval, %__barracuda_interval, 1;") !=
         std::string::npos;
}

}  // namespace

TEST_CASE("what is under way at a barrier, or begins behind it, may be read there") {
  const std::string copy = "cp.async.ca.shared.global [tile], [%rd1], 4;\n",
                    commit = "cp.async.commit_group;\n", none = "cp.async.wait_group 0;\n",
                    one = "cp.async.wait_group 1;\n", all = "cp.async.wait_all;\n",
                    read = std::string(kBarrier) + kLoad + kBarrier;
  CHECK(skipped_loads(copy + commit + none + read) == 1);
  CHECK(skipped_loads(copy + all + read) == 1);
  CHECK(skipped_loads(copy + commit + one + read) == 0);
  CHECK(skipped_loads(copy + none + read) == 0);  // it is of no group
  CHECK(skipped_loads(copy + commit + none + copy + read) == 0);
  CHECK(skipped_loads(copy + commit + "@%p1 " + none + read) == 0);
  CHECK(skipped_loads(copy + "@%p1 " + commit + none + read) == 0);
  CHECK(skipped_loads(copy + commit + none + kBarrier + kLoad + copy + all + kBarrier) == 0);
  CHECK(skipped_loads("$again:\n" + copy + commit + none + read + "@%p1 bra.uni $again;\n") == 1);
  CHECK(skipped_loads("$again:\n" + all + read + copy + "@%p1 bra.uni $again;\n") == 1);
  CHECK(skipped_loads("$again:\n" + one + read + copy + commit + "@%p1 bra.uni $again;\n") == 0);
}

TEST_CASE("who leaves before any barrier and any access that is kept leaves nothing behind") {
  const auto has_early_exit = [](const std::string& body) {
    return instrument_with(body).text.find("mov.b32 %__barracuda_interval, 65536;") !=
           std::string::npos;
  };
  const std::string guard = "mov.u32 %r7, %tid.x;\nsetp.lt.u32 %p1, %r7, 9;\n",
                    leave = "@%p1 bra $to;\n", tile = kTile, to = "$to:\n",
                    read = "ld.global.u32 %r4, [%rd1];\n";
  CHECK(has_early_exit(guard + leave + tile + to));
  CHECK(has_early_exit(guard + "@%p1 ret;\n" + tile));
  CHECK(has_early_exit(guard + leave + tile + leave + kBarrier + kLoad + to));
  CHECK_FALSE(has_early_exit(guard + read + leave + tile + "st.global.u32 [%rd1], %r2;\n" + to));
  CHECK_FALSE(has_early_exit(guard + kStore + leave + kBarrier + kLoad + to));
  CHECK_FALSE(has_early_exit(guard + leave + kStore + leave + kBarrier + kLoad + to));
  CHECK_FALSE(has_early_exit(guard + kStore + "@%p1 bar.sync 0;\n" + leave + tile + to));
}

TEST_CASE("threads of a block are counted where all come to every barrier together") {
  const std::string store = kStore, barrier = kBarrier;
  const std::string differs = "mov.u32 %r7, %tid.x;\nsetp.lt.u32 %p2, %r7, 9;\n";
  CHECK(counts_events(store + barrier + barrier));
  CHECK(counts_events(differs + "@%p2 bra $to;\n" + store + "$to:\n" + barrier));
  CHECK(counts_events(differs + barrier + "@%p2 ret;\n" + store));
  // One 0 for two loop counters, as nvcc writes it; the first is then a thread's own.
  const std::string start = "mov.u32 %r7, %tid.x;\nmov.u32 %r4, 0;\nmov.u32 %r5, %r4;\n";
  const std::string next = barrier + "add.u32 %r4, %r4, %r7;\nadd.u32 %r5, %r5, 1;\n";
  CHECK(
      counts_events(start + "$to:\n" + store + next + "setp.lt.u32 %p1, %r5, 9;\n@%p1 bra $to;\n"));
  CHECK_FALSE(
      counts_events(start + "$to:\n" + store + next + "setp.lt.u32 %p1, %r4, 9;\n@%p1 bra $to;\n"));
  CHECK_FALSE(counts_events(differs + "@%p2 ret;\n" + store + barrier));
  // A register that is made of a constant first, and then by some threads of what they loaded.
  CHECK_FALSE(counts_events(differs + "mov.u32 %r4, 0;\n@%p2 ld.global.u32 %r4, [%rd1];\n" +
                            "setp.eq.u32 %p1, %r4, 0;\n@%p1 bra $to;\n" + store + barrier +
                            "$to:\n"));
  // What a table of constants says of the block, and what one says of the thread.
  const std::string leave = "setp.eq.u32 %p1, %r4, 0;\n@%p1 ret;\n" + store + barrier;
  CHECK(counts_events("ld.global.nc.u32 %r4, [%rd1];\n" + leave));
  CHECK_FALSE(counts_events("ld.global.u32 %r4, [%rd1];\n" + leave));
  CHECK_FALSE(
      counts_events("mov.u32 %r7, %tid.x;\ncvt.u64.u32 %rd2, %r7;\nadd.s64 %rd3, %rd1, %rd2;\n"
                    "ld.global.nc.u32 %r4, [%rd3];\n" +
                    leave));
  CHECK_FALSE(counts_events(differs + barrier + "@%p2 bra $to;\n" + barrier + "$to:\n" + store));
  // What a barrier of the whole block answers, all hear alike.
  const std::string by_answer = "@%p3 bra $to;\n" + store + barrier + "$to:\n";
  CHECK(counts_events(differs + "bar.red.or.pred %p3, 0, %p2;\n" + by_answer));
  CHECK_FALSE(counts_events(differs + "bar.red.or.pred %p3, 1, 64, %p2;\n" + by_answer));
  CHECK_FALSE(counts_events(differs + "vote.sync.any.pred %p3, %p2, -1;\n" + by_answer));
}

TEST_CASE("what one thread tells all others they do together") {
  const std::string declare =
      ".shared .align 4 .u32 flag;\nmov.u32 %r6, tile;\nld.param.u64 %rd1, [p];\n";
  const std::string differs = "mov.u32 %r7, %tid.x;\nsetp.eq.u32 %p2, %r7, 0;\n";
  const std::string tells = "@%p2 st.shared.u32 [flag], %r3;\n", barrier = kBarrier;
  const std::string ask = "ld.shared.u32 %r4, [flag];\nsetp.eq.u32 %p1, %r4, 0;\n";
  const std::string branch = "@%p1 bra $end;\n";
  const std::string rest = "st.shared.u32 [%r6+4], %r1;\n" + barrier + kLoad + "$end:\n";
  const std::string begin = declare + differs + kStore + tells;
  CHECK(counts_events(begin + barrier + ask + branch + rest));
  CHECK(counts_events(begin + barrier + ask + kLoad + branch + rest));
  // A loaded index leads nowhere else.
  CHECK(counts_events(begin + barrier + ask + branch +
                      "ld.global.u32 %r5, [%rd1];\nadd.u32 %r6, %r6, %r5;\n" + rest));
  // Other bytes of the variable.
  CHECK(counts_events(begin + barrier + ask + branch + "st.shared.u32 [flag+4], %r3;\n" + rest));
  // What the kernel was given leads to no shared memory.
  CHECK(counts_events(begin + barrier + ask + branch +
                      "cvt.u64.u32 %rd3, %r7;\nadd.s64 %rd2, %rd1, %rd3;\nst.u32 [%rd2], 0;\n" +
                      rest));
  // Told again behind the next barrier, in a loop.
  const std::string loop = "setp.lt.u32 %p3, %r5, 9;\n@%p3 bra $loop;\n";
  CHECK(counts_events(declare + differs + "$loop:\n" + barrier + tells + barrier + ask + branch +
                      rest + barrier + "add.u32 %r5, %r5, 1;\n" + loop));
  // All extern variables lie at one place.
  CHECK_FALSE(counts_events(".extern .shared .align 4 .b8 flag[];\nmov.u32 %r6, tile;\n" + differs +
                            kStore + tells + barrier + ask + branch + rest));
  for (const std::string& other : {
           begin + ask + branch + rest,                    // before any barrier
           begin + barrier + tells + ask + branch + rest,  // told without one
           begin + barrier + ask + branch + tells + rest,  // while others may still ask
           begin + barrier + ask + branch + "st.shared.u32 [%r5], 0;\n" + rest,
           begin + barrier + ask + branch + "ld.global.u64 %rd2, [%rd1];\nst.u32 [%rd2], 0;\n" +
               rest,
           begin + barrier + ask + branch +
               "ld.global.u64 %rd2, [%rd1];\nadd.s64 %rd2, %rd2, %rd1;\nst.u32 [%rd2], 0;\n" + rest,
           begin + barrier + ask + branch + "st.u32 [%rd3], 0;\n" + rest,
           // An offset that the kernel was given.
           begin + barrier + ask + branch + "cvta.shared.u64 %rd2, %rd1;\nst.u32 [%rd2], 0;\n" +
               rest,
           begin + barrier + ask + branch + "mov.u32 %r5, flag;\nst.shared.u32 [%r5], 0;\n" + rest,
           // A pointer that was loaded, or the array.
           begin + barrier + ask + branch +
               "ld.local.v2.u32 {%r3, %r4}, [%rd1];\nmov.b64 %rd2, {%r3, %r4};\ncvt.u64.u32 %rd3, "
               "%r6;\nselp.b64 %rd4, %rd2, %rd3, %p2;\nst.u32 [%rd4], 0;\n" +
               rest,
           begin + barrier + ask + branch +
               "ld.global.u32 %r5, [%rd1];\nselp.b32 %r6, %r5, %r6, %p2;\n" + rest,
           begin + barrier + "ld.shared.u32 %r4, [%r5];\nsetp.eq.u32 %p1, %r4, 0;\n" + branch +
               rest,
           // The barrier is not one that all come to.
           begin + "@%p2 bra $over;\n" + barrier + "$over:\n" + ask + branch + rest,
       }) {
    INFO(other);
    CHECK_FALSE(counts_events(other));
  }
}

TEST_CASE("barriers are logged for a block where more than they orders threads") {
  const auto is_for_block = [](const std::string& body) {
    return instrument_with(body).text.find("__barracuda_logs_barrier,") != std::string::npos;
  };
  const std::string barrier = kBarrier, tile = kTile;
  const std::string differs = "mov.u32 %r7, %tid.x;\nsetp.lt.u32 %p2, %r7, 9;\n";
  CHECK(is_for_block("membar.gl;\n" + tile));
  CHECK(is_for_block(tile + "bar.warp.sync -1;\n" + tile));
  CHECK(is_for_block("ld.acquire.gpu.global.u32 %r3, [%rd1];\n" + barrier));
  CHECK_FALSE(is_for_block("membar.gl;\n"));
  CHECK_FALSE(is_for_block("membar.gl;\n" + differs + "@%p2 ret;\n" + barrier));
  for (const std::string counts : {"bar.sync 1, 32;\n", "bar.arrive 1, 64;\n"}) {
    CHECK_FALSE(is_for_block("membar.gl;\n" + barrier + counts));
    CHECK_FALSE(is_for_block(tile + barrier + counts));  // that has states
  }
  CHECK_FALSE(is_for_block("mbarrier.init.shared.b64 [tile], 1;\n" + barrier));
}

TEST_CASE("between two barriers without a write of shared memory its loads need no hook") {
  const std::string store = kStore, load = kLoad, barrier = kBarrier;
  CHECK(skipped_loads(store + barrier + load) == 1);
  CHECK(skipped_loads(store + barrier + load + barrier + store) == 1);
  CHECK(skipped_loads(store + barrier + "st.global.u32 [%rd1], %r1;\n" + load) == 1);
  // What is written is something else, by its name or by what the kernel was given.
  CHECK(skipped_loads(store + barrier + "st.shared.u32 [tile+4], %r1;\n" + load) == 1);
  CHECK(skipped_loads(store + barrier + "mov.u32 %r5, tile;\nst.shared.u32 [%r5+4], %r1;\n" +
                      load) == 1);
  CHECK(skipped_loads(store + barrier + "ld.param.u64 %rd1, [p];\nst.u32 [%rd1], %r1;\n" + load) ==
        1);
  // As a tiled product: the loop comes back to the stores behind its second barrier alone.
  const std::string loop = "$loop:\n" + store + barrier + load + barrier +
                           "add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p1, %r5, 9;\n@%p1 bra $loop;\n";
  CHECK(skipped_loads("mov.u32 %r5, 0;\n" + loop) == 1);
}

TEST_CASE("loads keep their hooks where a write may be in their interval, or a thread leaves") {
  const std::string store = kStore, load = kLoad, barrier = kBarrier;
  const std::string differs = "mov.u32 %r7, %tid.x;\nsetp.lt.u32 %p2, %r7, 9;\n";
  for (const std::string& other : {
           load + barrier + store,  // before the first barrier
           barrier + load + store,  // what comes behind it counts
           store + barrier + "@%p1 bra $end;\n" + store + "$end:\n" + load,
           barrier + "st.u32 [%rd1], %r1;\n" + load,  // generic
           barrier + "ld.param.u64 %rd1, [p];\nld.u64 %rd2, [%rd1];\nst.u32 [%rd2], %r1;\n" + load,
           // The last byte, and a place that is computed.
           barrier + "st.shared.u8 [tile+3], %r1;\n" + load,
           barrier + "mov.u32 %r5, tile;\nadd.u32 %r5, %r5, %r1;\nst.shared.u32 [%r5+4], %r1;\n" +
               load,
           barrier + "red.shared.add.u32 [tile], 1;\n" + load,
           // Others may be at the first barrier, behind which somebody writes.
           differs + "@%p2 bra $other;\n" + barrier + load + "bra $end;\n$other:\n" + barrier +
               store + "$end:\n" + barrier + store,
           // Who leaves has read what others write behind the barrier that comes next.
           differs + barrier + load + "@%p2 ret;\n" + barrier + store,
           // One way to the load comes from a store without a barrier.
           differs + barrier + "@%p1 bra $to;\n" + barrier + store + "$to:\n" + load,
           store + barrier + "ld.u32 %r2, [%rd1];\n",  // it may be of global memory
       }) {
    INFO(other);
    CHECK(skipped_loads(other) == 0);
  }
}

}  // namespace barracuda::ptx

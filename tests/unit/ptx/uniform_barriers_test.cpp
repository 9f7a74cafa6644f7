// Where all threads of a block come to its barriers together (ptx/passes/uniform_barriers.cpp):
// barriers that are counted for the block, and loads that need no hook between two of them.
#include <cstddef>
#include <string>
#include <string_view>

#include <catch2/catch.hpp>

#include "ptx/instrument.h"
#include "tile_kernel.h"

namespace barracuda::ptx {
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
                    read = std::string(kTileBarrier) + kTileLoad + kTileBarrier;
  CHECK(skipped_loads(copy + commit + none + read) == 1);
  CHECK(skipped_loads(copy + all + read) == 1);
  CHECK(skipped_loads(copy + commit + one + read) == 0);
  CHECK(skipped_loads(copy + none + read) == 0);  // it is of no group
  CHECK(skipped_loads(copy + commit + none + copy + read) == 0);
  CHECK(skipped_loads(copy + commit + "@%p1 " + none + read) == 0);
  CHECK(skipped_loads(copy + "@%p1 " + commit + none + read) == 0);
  CHECK(skipped_loads(copy + commit + none + kTileBarrier + kTileLoad + copy + all +
                      kTileBarrier) == 0);
  CHECK(skipped_loads("$again:\n" + copy + commit + none + read + "@%p1 bra.uni $again;\n") == 1);
  CHECK(skipped_loads("$again:\n" + all + read + copy + "@%p1 bra.uni $again;\n") == 1);
  CHECK(skipped_loads("$again:\n" + one + read + copy + commit + "@%p1 bra.uni $again;\n") == 0);
}

TEST_CASE("threads of a block are counted where all come to every barrier together") {
  const std::string store = kTileStore, barrier = kTileBarrier;
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
  const std::string tells = "@%p2 st.shared.u32 [flag], %r3;\n", barrier = kTileBarrier;
  const std::string ask = "ld.shared.u32 %r4, [flag];\nsetp.eq.u32 %p1, %r4, 0;\n";
  const std::string branch = "@%p1 bra $end;\n";
  const std::string rest = "st.shared.u32 [%r6+4], %r1;\n" + barrier + kTileLoad + "$end:\n";
  const std::string begin = declare + differs + kTileStore + tells;
  CHECK(counts_events(begin + barrier + ask + branch + rest));
  CHECK(counts_events(begin + barrier + ask + kTileLoad + branch + rest));
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
                            kTileStore + tells + barrier + ask + branch + rest));
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
  const std::string barrier = kTileBarrier, tile = kTileRound;
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
  const std::string store = kTileStore, load = kTileLoad, barrier = kTileBarrier;
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
  const std::string store = kTileStore, load = kTileLoad, barrier = kTileBarrier;
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

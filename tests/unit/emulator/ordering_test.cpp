// Forms that order, hint or take part without a value of their own, in kernels whose results depend
// on them; votes, matches and reductions of every kind.
#include <fmt/format.h>

#include "tests/unit/emulator/device.h"

using namespace barracuda::emulator;  // NOLINT(google-build-using-namespace)
using test::Device;
using test::kernel_text;
using test::run_lanes;
using test::shape;

TEST_CASE("a message is there once its flag is, whatever fence lies between") {
  for (const std::string_view fence :
       {"membar.cta", "membar.gl", "membar.sys", "fence.sc.cta", "fence.sc.gpu", "fence.sc.sys",
        "fence.acq_rel.cta", "fence.acq_rel.gpu", "fence.acq_rel.sys", "fence.proxy.alias"}) {
    // Warp 0 writes for warp 1, both of one block.
    const auto result = run_lanes(fmt::format(R"(
    shr.u32 %r1, %thread, 5;
    setp.eq.u32 %p1, %r1, 0;
    @!%p1 bra READER;
    mul.wide.u32 %d1, %thread, 4;
    mov.u64 %d2, message;
    add.u64 %d1, %d1, %d2;
    add.u32 %r2, %thread, 1000;
    st.global.u32 [%d1], %r2;
    {0};
    st.relaxed.gpu.global.u32 [%d1+128], 1;
    bra.uni END;
READER:
    sub.u32 %r3, %thread, 32;
    mul.wide.u32 %d1, %r3, 4;
    mov.u64 %d2, message;
    add.u64 %d1, %d1, %d2;
AGAIN:
    ld.relaxed.gpu.global.u32 %r4, [%d1+128];
    setp.eq.u32 %p2, %r4, 0;
    @%p2 bra AGAIN;
    {0};
    ld.global.u32 %r5, [%d1];
    cvt.u64.u32 %d3, %r5;
    st.global.u64 [%out], %d3;
END:)",
                                              fence),
                                  64, ".global .align 4 .u32 message[64];\n");
    INFO(fence);
    for (std::uint64_t i = 0; i < 32; ++i) {
      REQUIRE(result[i] == 0);
      REQUIRE(result[i + 32] == 1000 + i);
    }
  }
}

TEST_CASE("who loads a vector while another stores it sees all of one store") {
  struct Form {
    std::string_view type, values, loaded;
  };

  const std::string_view strength =
      GENERATE(".relaxed.gpu.global", ".volatile.global", ".global.cg");
  const Form form = GENERATE(Form{".v2.u16", "{%h1, %h1}", "{%h2, %h3}"},
                             Form{".v2.u32", "{%r1, %r1}", "{%r2, %r3}"},
                             Form{".v4.u32", "{%r1, %r1, %r1, %r1}", "{%r2, _, _, %r3}"},
                             Form{".v2.u64", "{%d1, %d1}", "{%d2, %d3}"});
  INFO(strength << form.type);
  MachineOptions options;
  options.workers = 2;
  // Block 0 stores 1, 2, 3, ... in all elements of each lane's vector, block 1 loads and compares.
  Device device(kernel_text(fmt::format(R"(
    mov.u64 %d10, vectors;
    mul.wide.u32 %d11, %laneid, 16;
    add.u64 %d10, %d10, %d11;
    setp.eq.u32 %p1, %a0, 0;
    mov.u64 %d12, 0;
    mov.u32 %r1, 0;
AGAIN:
    add.u32 %r1, %r1, 1;
    cvt.u16.u32 %h1, %r1;
    cvt.u64.u32 %d1, %r1;
    @!%p1 bra READER;
    st{0}{1} [%d10], {2};
    bra NEXT;
READER:
    mov.b32 %r2, 0;
    mov.b32 %r3, 0;
    mov.b64 %d2, 0;
    mov.b64 %d3, 0;
    mov.b16 %h2, 0;
    mov.b16 %h3, 0;
    ld{0}{1} {3}, [%d10];
    xor.b32 %r2, %r2, %r3;
    xor.b16 %h2, %h2, %h3;
    xor.b64 %d2, %d2, %d3;
    cvt.u64.u32 %d4, %r2;
    cvt.u64.u16 %d5, %h2;
    or.b64 %d2, %d2, %d4;
    or.b64 %d2, %d2, %d5;
    or.b64 %d12, %d12, %d2;
NEXT:
    setp.lt.u32 %p2, %r1, 30000;
    @%p2 bra AGAIN;
    st.global.u64 [%out], %d12;)",
                                        strength, form.type, form.values, form.loaded),
                            ".global .align 16 .b8 vectors[512];\n"),
                options);
  const std::uint64_t out = device.buffer(std::vector<std::uint64_t>(64, 0));
  device.run_well("k", shape({2}, {32}), out);
  REQUIRE(device.read<std::uint64_t>(out, 64) == std::vector<std::uint64_t>(64, 0));
}

TEST_CASE("hints and register counts leave values alone, discarded or not") {
  Device device(kernel_text(R"(
    prefetch.global.L2 [%base];
    applypriority.global.L2::evict_normal [%base], 128;
    griddepcontrol.wait;
    setmaxnreg.inc.sync.aligned.u32 64;
    ld.global.u64 %d1, [%out];
    mul.lo.u64 %d1, %d1, 3;
    st.global.u64 [%out], %d1;
    bar.sync 0;
    // What is discarded may hold anything until it is written again.
    setp.eq.u32 %p1, %thread, 0;
    @%p1 discard.global.L2 [%base+256], 128;
    griddepcontrol.launch_dependents;)"));
  std::vector<std::uint64_t> values(64);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = i + 7;
  }
  const std::uint64_t out = device.buffer(values);
  device.run_well("k", shape({1}, {32}), out);
  const auto result = device.read<std::uint64_t>(out, 64);
  for (std::uint64_t i = 0; i < 64; ++i) {
    REQUIRE((i >= 32 && i < 48 ? i + 7 : result[i]) == (i < 32 ? (i + 7) * 3 : i + 7));
  }
}

TEST_CASE("generic addresses of a variable lead back to its space") {
  const auto result = run_lanes(R"(
    .local .align 8 .b8 depot[16];
    mov.u64 %d1, cells;
    cvta.global.u64 %d2, %d1;
    mul.wide.u32 %d3, %thread, 8;
    add.u64 %d2, %d2, %d3;
    cvt.u64.u32 %d4, %thread;
    st.u64 [%d2], %d4;
    cvta.to.global.u64 %d5, %d2;
    ld.global.u64 %d6, [%d5];
    mov.u64 %d7, depot;
    cvta.local.u64 %d7, %d7;
    add.u64 %d8, %d6, 5;
    st.u64 [%d7+8], %d8;
    cvta.to.local.u64 %d9, %d7;
    ld.local.u64 %d10, [%d9+8];
    st.global.u64 [%out], %d10;)",
                                40, ".global .align 8 .u64 cells[40];\n");
  for (std::uint64_t i = 0; i < 40; ++i) {
    REQUIRE(result[i] == i + 5);
  }
}

TEST_CASE("votes of every kind say what all, any, or each of the members hold") {
  const auto result = run_lanes(R"(
    mov.u32 %r1, %laneid;
    setp.lt.u32 %p1, %r1, 20;
    setp.lt.u32 %p2, %r1, 40;
    setp.gt.u32 %p3, %r1, 40;
    mov.u32 %r9, 0;
    vote.sync.any.pred %p4, %p1, -1; @%p4 or.b32 %r9, %r9, 1;
    vote.sync.any.pred %p4, %p3, -1; @%p4 or.b32 %r9, %r9, 2;
    vote.sync.all.pred %p4, %p2, -1; @%p4 or.b32 %r9, %r9, 4;
    vote.sync.all.pred %p4, %p1, -1; @%p4 or.b32 %r9, %r9, 8;
    vote.sync.uni.pred %p4, %p3, -1; @%p4 or.b32 %r9, %r9, 16;
    vote.sync.uni.pred %p4, %p1, -1; @%p4 or.b32 %r9, %r9, 32;
    vote.sync.uni.pred %p4, !%p3, -1; @%p4 or.b32 %r9, %r9, 64;
    vote.ballot.sync.b32 %r2, %p1, -1;
    mov.b64 %d1, {%r2, %r9};
    st.global.u64 [%out], %d1;)",
                                32);
  REQUIRE(result ==
          std::vector<std::uint64_t>(32, std::uint64_t{1 | 4 | 16 | 64} << 32 | 0xfffffU));
}

TEST_CASE("matches and reductions agree over the members") {
  const auto result = run_lanes(R"(
    mov.u32 %r1, %laneid;
    and.b32 %r2, %r1, 1;
    mul.wide.u32 %d1, %r2, -1;
    match.any.sync.b64 %r3, %d1, -1;
    match.all.sync.b32 %r4|%p1, 9, -1;
    match.all.sync.b32 %r5|%p2, %r2, -1;
    sub.s32 %r6, %r1, 40;
    redux.sync.max.s32 %r7, %r6, -1;
    shl.b32 %r8, 1, %r1;
    redux.sync.or.b32 %r8, %r8, -1;
    // 0 where everything is as expected, but for the bits of match.any.
    add.s32 %r7, %r7, 9;
    not.b32 %r8, %r8;
    not.b32 %r4, %r4;
    or.b32 %r7, %r7, %r8;
    or.b32 %r7, %r7, %r4;
    or.b32 %r7, %r7, %r5;
    selp.u32 %r9, 0, 2, %p1;
    or.b32 %r7, %r7, %r9;
    selp.u32 %r9, 4, 0, %p2;
    or.b32 %r7, %r7, %r9;
    mov.b64 %d2, {%r3, %r7};
    st.global.u64 [%out], %d2;)",
                                32);
  for (std::uint32_t i = 0; i < 32; ++i) {
    REQUIRE(result[i] == (i % 2 == 0 ? 0x55555555U : 0xaaaaaaaaU));
  }
}

TEST_CASE("one lane of the members is elected, and all know which") {
  const auto result = run_lanes(R"(
    mov.u32 %r1, %laneid;
    setp.lt.u32 %p1, %r1, 3;
    @%p1 bra END;
    elect.sync %r2|%p2, 0xfffffff8;
    selp.u32 %r3, 1, 0, %p2;
    mov.b64 %d1, {%r2, %r3};
    st.global.u64 [%out], %d1;
END:)",
                                32);
  std::uint64_t elected = 0;
  for (std::uint32_t i = 3; i < 32; ++i) {
    const auto leader = static_cast<std::uint32_t>(result[i]);
    REQUIRE(leader == static_cast<std::uint32_t>(result[3]));
    REQUIRE(leader >= 3);
    REQUIRE(result[i] >> 32 == (i == leader ? 1 : 0));
    elected += result[i] >> 32;
  }
  REQUIRE(elected == 1);
}

TEST_CASE("barrier.red counts over the block as bar.red does") {
  const auto result = run_lanes(R"(
    setp.lt.u32 %p1, %thread, 13;
    barrier.cta.red.popc.u32 %r2, 0, %p1;
    cvt.u64.u32 %d1, %r2;
    st.global.u64 [%out], %d1;)",
                                70);
  REQUIRE(result == std::vector<std::uint64_t>(70, 13));
}

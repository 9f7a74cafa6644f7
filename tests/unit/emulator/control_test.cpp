// Divergence, calls, barriers, collectives, progress.
#include "tests/unit/emulator/device.h"

using namespace barracuda::emulator;  // NOLINT(google-build-using-namespace)
using test::Device;
using test::kernel_text;
using test::run_lanes;
using test::shape;

TEST_CASE("each thread stores its own index, in full and partial warps") {
  for (const std::uint32_t threads : {1U, 31U, 32U, 33U, 100U, 1024U}) {
    const auto result =
        run_lanes("cvt.u64.u32 %d1, %thread;\n st.global.u64 [%out], %d1;", threads, "", 3);
    for (std::uint64_t i = 0; i < result.size(); ++i) {
      REQUIRE(result[i] == i);
    }
  }
}

TEST_CASE("lanes that take different ways through a loop meet again") {
  // The number of odd steps of a Collatz-like walk, then a warp-wide sum to show convergence.
  const auto result = run_lanes(R"(
    mov.u32 %r1, %thread;
    mov.u32 %r2, 0;
LOOP:
    setp.le.u32 %p1, %r1, 1;
    @%p1 bra DONE;
    and.b32 %r3, %r1, 1;
    setp.eq.u32 %p2, %r3, 0;
    @%p2 bra EVEN;
    mad.lo.u32 %r1, %r1, 3, 1;
    add.u32 %r2, %r2, 1;
    bra LOOP;
EVEN:
    shr.u32 %r1, %r1, 1;
    bra LOOP;
DONE:
    activemask.b32 %r4;
    mov.b64 %d1, {%r2, %r4};
    st.global.u64 [%out], %d1;)",
                                32);
  for (std::uint32_t i = 0; i < 32; ++i) {
    std::uint32_t n = i, odd = 0;
    while (n > 1) {
      odd += n % 2;
      n = n % 2 == 0 ? n / 2 : 3 * n + 1;
    }
    REQUIRE(static_cast<std::uint32_t>(result[i]) == odd);
    REQUIRE(result[i] >> 32 == 0xffffffffU);
  }
}

TEST_CASE("a lane that spins on a lock held by a lane of its warp does not starve it") {
  Device device(kernel_text(R"(
    mov.u32 %r5, 0;
TRY:
    atom.global.cas.b32 %r1, [lock], 0, 1;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra TRY;
    membar.gl;
    ld.global.u32 %r2, [counter];
    add.u32 %r2, %r2, 1;
    st.global.u32 [counter], %r2;
    membar.gl;
    atom.global.exch.b32 %r3, [lock], 0;
    )",
                            ".global .align 4 .u32 lock;\n.global .align 4 .u32 counter;\n"));
  const std::uint64_t out = device.buffer(std::vector<std::uint64_t>(256, 0));
  device.run_well("k", shape({4}, {64}), out);
  const auto counter = Machine::find_variable(device.module(), "counter");
  REQUIRE(counter);
  REQUIRE(device.read<std::uint32_t>(counter->address, 1)[0] == 256);
}

TEST_CASE("a function's variables in shared memory lie as it declares them") {
  // What is used first is not what lies first.
  const auto result = run_lanes(R"(
    .shared .align 4 .b8 stage[512];
    .shared .align 8 .b8 state[40];
    mov.u32 %r1, state;
    mov.u32 %r2, stage;
    sub.u32 %r3, %r1, %r2;
    cvt.u64.u32 %d1, %r3;
    st.global.u64 [%out], %d1;)",
                                1);
  CHECK(result.front() == 512);
}

TEST_CASE("a barrier makes the block's stores to shared memory visible") {
  const auto result = run_lanes(R"(
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, buffer;
    shl.b32 %r3, %r1, 2;
    add.u32 %r3, %r2, %r3;
    st.shared.u32 [%r3], %r1;
    bar.sync 0;
    mov.u32 %r4, %ntid.x;
    sub.u32 %r4, %r4, %r1;
    sub.u32 %r4, %r4, 1;
    shl.b32 %r4, %r4, 2;
    add.u32 %r4, %r2, %r4;
    ld.shared.u32 %r5, [%r4];
    cvt.u64.u32 %d1, %r5;
    st.global.u64 [%out], %d1;)",
                                200, ".shared .align 4 .b8 buffer[800];\n");
  for (std::uint64_t i = 0; i < 200; ++i) {
    REQUIRE(result[i] == 199 - i);
  }
}

TEST_CASE("barriers with thread counts pair producers with consumers") {
  // Warp 0 arrives, warp 1 waits, twice; warps 2 and 3 use another barrier.
  const auto result = run_lanes(R"(
    mov.u32 %r1, %tid.x;
    shr.u32 %r2, %r1, 5;
    setp.eq.u32 %p1, %r2, 0;
    setp.eq.u32 %p2, %r2, 1;
    @!%p1 bra NOT_PRODUCER;
    st.shared.u32 [box], 41;
    bar.arrive 1, 64;
    bra END;
NOT_PRODUCER:
    @!%p2 bra OTHERS;
    bar.sync 1, 64;
    ld.shared.u32 %r3, [box];
    add.u32 %r3, %r3, 1;
    cvt.u64.u32 %d1, %r3;
    st.global.u64 [%out], %d1;
    bra END;
OTHERS:
    bar.sync 2, 64;
    st.global.u64 [%out], 7;
END:)",
                                128, ".shared .align 4 .u32 box;\n");
  REQUIRE(result[0] == 0);
  REQUIRE(result[32] == 42);
  REQUIRE(result[63] == 42);
  REQUIRE(result[64] == 7);
  REQUIRE(result[127] == 7);
}

TEST_CASE("bar.red counts and combines predicates over the block") {
  const auto result = run_lanes(R"(
    mov.u32 %r1, %tid.x;
    setp.lt.u32 %p1, %r1, 10;
    setp.ne.u32 %p5, %r1, %r1;
    bar.red.popc.u32 %r2, 0, %p1;
    bar.red.and.pred %p2, 0, %p1;
    bar.red.or.pred %p3, 0, %p1;
    bar.red.and.pred %p4, 0, !%p5;
    selp.u32 %r3, 1, 0, %p2;
    selp.u32 %r4, 2, 0, %p3;
    selp.u32 %r5, 4, 0, %p4;
    add.u32 %r3, %r3, %r4;
    add.u32 %r3, %r3, %r5;
    mov.b64 %d1, {%r2, %r3};
    st.global.u64 [%out], %d1;)",
                                70);
  for (const std::uint64_t value : result) {
    REQUIRE(value == (std::uint64_t{6} << 32 | 10));
  }
}

TEST_CASE("shuffles follow their segments and say which lanes had a source") {
  const auto result = run_lanes(R"(
    mov.u32 %r1, %laneid;
    shfl.sync.down.b32 %r2|%p1, %r1, 3, 31, -1;
    shfl.sync.up.b32 %r3|%p2, %r1, 2, 0, -1;
    shfl.sync.bfly.b32 %r4, %r1, 5, 31, -1;
    shfl.sync.idx.b32 %r5, %r1, 3, 6175, -1;
    selp.u32 %r6, 1, 0, %p1;
    selp.u32 %r7, 2, 0, %p2;
    add.u32 %r6, %r6, %r7;
    shl.b32 %r3, %r3, 8;
    shl.b32 %r4, %r4, 16;
    shl.b32 %r5, %r5, 24;
    or.b32 %r2, %r2, %r3;
    or.b32 %r2, %r2, %r4;
    or.b32 %r2, %r2, %r5;
    mov.b64 %d1, {%r2, %r6};
    st.global.u64 [%out], %d1;)",
                                32);
  for (std::uint32_t i = 0; i < 32; ++i) {
    const std::uint32_t down = i + 3 < 32 ? i + 3 : i, up = i >= 2 ? i - 2 : i;
    const std::uint32_t flags = (i + 3 < 32 ? 1 : 0) | (i >= 2 ? 2 : 0);
    // c = 0x181f: segments of 8 lanes.
    const std::uint32_t index = (i & 24) | 3;
    REQUIRE(static_cast<std::uint32_t>(result[i]) ==
            (down | up << 8 | (i ^ 5) << 16 | index << 24));
    REQUIRE(result[i] >> 32 == flags);
  }
}

TEST_CASE("a shuffle may write the register that holds its distance") {
  const auto result = run_lanes(R"(
    mov.u32 %r1, %laneid;
    and.b32 %r2, %r1, 3;
    add.u32 %r3, %r1, 100;
    shfl.sync.down.b32 %r2|%p1, %r3, %r2, 31, -1;
    selp.u32 %r4, 1, 0, %p1;
    mov.b64 %d1, {%r2, %r4};
    st.global.u64 [%out], %d1;)",
                                32);
  for (std::uint32_t i = 0; i < 32; ++i) {
    const std::uint32_t from = i + (i & 3);
    REQUIRE(static_cast<std::uint32_t>(result[i]) == 100 + (from < 32 ? from : i));
    REQUIRE(result[i] >> 32 == (from < 32 ? 1 : 0));
  }
}

TEST_CASE("votes, matches and reductions respect their member masks") {
  const auto result = run_lanes(R"(
    mov.u32 %r1, %laneid;
    and.b32 %r2, %r1, 3;
    setp.eq.u32 %p1, %r2, 1;
    vote.sync.ballot.b32 %r3, %p1, -1;
    match.any.sync.b32 %r4, %r2, -1;
    redux.sync.add.s32 %r5, %r1, -1;
    xor.b32 %r3, %r3, %r4;
    // Two halves with masks of their own, in one instruction.
    setp.lt.u32 %p2, %r1, 16;
    selp.u32 %r6, 0xffff, 0xffff0000, %p2;
    redux.sync.max.u32 %r7, %r1, %r6;
    add.u32 %r5, %r5, %r7;
    mov.b64 %d1, {%r3, %r5};
    st.global.u64 [%out], %d1;)",
                                32);
  for (std::uint32_t i = 0; i < 32; ++i) {
    REQUIRE(static_cast<std::uint32_t>(result[i]) == (0x22222222U ^ (0x11111111U << (i & 3))));
    REQUIRE(result[i] >> 32 == 496U + (i < 16 ? 15U : 31U));
  }
}

TEST_CASE("lanes that wait for each other at different instructions exchange values") {
  const auto result = run_lanes(R"(
    mov.u32 %r1, %laneid;
    setp.lt.u32 %p1, %r1, 10;
    @%p1 bra LOW;
    add.u32 %r2, %r1, 100;
    shfl.sync.bfly.b32 %r3, %r2, 16, 31, -1;
    bar.warp.sync -1;
    bra END;
LOW:
    add.u32 %r4, %r1, 200;
    shfl.sync.bfly.b32 %r3, %r4, 16, 31, -1;
    nanosleep.u32 20;
    bar.warp.sync -1;
END:
    cvt.u64.u32 %d1, %r3;
    st.global.u64 [%out], %d1;)",
                                32);
  for (std::uint32_t i = 0; i < 32; ++i) {
    const std::uint32_t partner = i ^ 16;
    REQUIRE(result[i] == partner + (partner < 10 ? 200 : 100));
  }
}

TEST_CASE("a collective does not wait for lanes that have exited") {
  const auto result = run_lanes(R"(
    mov.u32 %r1, %laneid;
    setp.lt.u32 %p1, %r1, 5;
    @%p1 exit;
    vote.sync.ballot.b32 %r2, 1, -1;
    bar.sync 0;
    cvt.u64.u32 %d1, %r2;
    st.global.u64 [%out], %d1;)",
                                64);
  REQUIRE(result[4] == 0);
  REQUIRE(result[5] == 0xffffffe0U);
  REQUIRE(result[63] == 0xffffffe0U);
}

TEST_CASE("functions recurse, take parameters in registers, and are called through pointers") {
  const auto result = run_lanes(R"(
    .param .b32 argument;
    .param .b32 answer;
    and.b32 %r1, %thread, 15;
    st.param.b32 [argument], %r1;
    call.uni (answer), factorial_sum, (argument);
    ld.param.b32 %r2, [answer];
    and.b32 %r3, %thread, 1;
    mul.wide.u32 %d1, %r3, 8;
    mov.u64 %d2, table;
    add.u64 %d1, %d1, %d2;
    ld.global.u64 %d3, [%d1];
    st.param.b32 [argument], %thread;
    call (answer), %d3, (argument), prototype;
    ld.param.b32 %r4, [answer];
    call (%r5), in_registers, (%r4, 3);
    mov.b64 %d4, {%r2, %r5};
    st.global.u64 [%out], %d4;
    bra END;
prototype: .callprototype (.param .b32 _) _ (.param .b32 _);
END:)",
                                64, R"(
.func (.param .b32 result) factorial_sum(.param .b32 n)
{
  .reg .b32 %r<9>;
  .reg .pred %p;
  ld.param.b32 %r1, [n];
  setp.gt.u32 %p, %r1, 0;
  @%p bra MORE;
  st.param.b32 [result], 1;
  ret;
MORE:
  {
  .param .b32 argument;
  .param .b32 answer;
  sub.u32 %r2, %r1, 1;
  st.param.b32 [argument], %r2;
  call.uni (answer), factorial_sum, (argument);
  ld.param.b32 %r3, [answer];
  }
  mad.lo.u32 %r4, %r3, %r1, 1;
  st.param.b32 [result], %r4;
  ret;
}
.func (.param .b32 result) doubled(.param .b32 n)
{
  .reg .b32 %r;
  ld.param.b32 %r, [n];
  shl.b32 %r, %r, 1;
  st.param.b32 [result], %r;
  ret;
}
.func (.param .b32 result) tripled(.param .b32 n)
{
  .reg .b32 %r;
  ld.param.b32 %r, [n];
  mul.lo.u32 %r, %r, 3;
  st.param.b32 [result], %r;
  ret;
}
.func (.reg .b32 %sum) in_registers(.reg .b32 %x, .reg .b32 %y)
{
  add.u32 %sum, %x, %y;
  ret;
}
.global .align 8 .u64 table[2] = {doubled, tripled};
)");
  for (std::uint32_t i = 0; i < 64; ++i) {
    std::uint32_t expected = 1;
    for (std::uint32_t n = 1; n <= (i & 15); ++n) {
      expected = expected * n + 1;
    }
    REQUIRE(static_cast<std::uint32_t>(result[i]) == expected);
    REQUIRE(result[i] >> 32 == (i % 2 == 0 ? 2 * i : 3 * i) + 3);
  }
}

TEST_CASE("local arrays belong to the thread, by local and by generic address") {
  const auto result = run_lanes(R"(
    .local .align 8 .b8 depot[64];
    mov.u64 %d1, depot;
    cvta.local.u64 %d2, %d1;
    and.b32 %r1, %thread, 7;
    mul.wide.u32 %d3, %r1, 8;
    add.u64 %d4, %d1, %d3;
    cvt.u64.u32 %d5, %thread;
    st.local.u64 [%d4], %d5;
    add.u64 %d6, %d2, %d3;
    ld.u64 %d7, [%d6];
    st.local.v4.u32 [depot+48], {1, 2, 3, 4};
    ld.local.v2.u32 {%r2, %r3}, [%d1+56];
    isspacep.local %p1, %d2;
    selp.u32 %r4, %r3, 99, %p1;
    mul.wide.u32 %d8, %r4, 1000;
    setp.ge.u32 %p2, %r1, 6;
    @%p2 mov.u64 %d7, %d5;
    add.u64 %d7, %d7, %d8;
    st.global.u64 [%out], %d7;)",
                                64);
  for (std::uint64_t i = 0; i < 64; ++i) {
    REQUIRE(result[i] == i + 4000);
  }
}

TEST_CASE("an indexed branch takes each lane to its target") {
  const auto result = run_lanes(R"(
    rem.u32 %r1, %thread, 3;
    mov.u64 %d1, 0;
    brx.idx %r1, table;
table: .branchtargets A, B, C;
A:  mov.u64 %d1, 10;
    bra END;
B:  mov.u64 %d1, 20;
    bra END;
C:  mov.u64 %d1, 30;
END:
    st.global.u64 [%out], %d1;)",
                                32);
  for (std::uint64_t i = 0; i < 32; ++i) {
    REQUIRE(result[i] == (i % 3 + 1) * 10);
  }
}

// Copies that arrive when they are waited for, and mbarriers.
#include <numeric>

#include <fmt/format.h>

#include "tests/unit/emulator/device.h"

using namespace barracuda::emulator;  // NOLINT(google-build-using-namespace)
using test::Device;
using test::kernel_text;
using test::shape;

namespace {

constexpr std::string_view kShared =
    ".shared .align 128 .b8 buffer[4096];\n.shared .align 8 .b64 barrier;\n";

// Thread i's value starts as i + 100.
std::vector<std::uint64_t> run_lanes(const std::string& body, std::uint32_t threads = 32) {
  Device device(kernel_text(body, std::string(kShared)));
  std::vector<std::uint64_t> values(512);
  std::iota(values.begin(), values.end(), 100);
  const std::uint64_t out = device.buffer(values);
  device.run_well("k", shape({1}, {threads}), out);
  return device.read<std::uint64_t>(out, values.size());
}

DeviceError run_badly(const std::string& body, std::uint32_t threads = 1) {
  Device device(kernel_text(body, std::string(kShared)));
  const std::uint64_t out = device.buffer(std::vector<std::uint64_t>(64, 0));
  return device.run("k", shape({1}, {threads}), out);
}

std::uint64_t both(std::uint32_t low, std::uint32_t high) {
  return std::uint64_t{high} << 32 | low;
}

}  // namespace

TEST_CASE("an asynchronous copy arrives when its group is waited for, not before") {
  const auto result = run_lanes(R"(
    mov.u32 %r1, buffer;
    mad.lo.u32 %r2, %thread, 4, %r1;
    st.shared.u32 [%r2], 7;
    cp.async.ca.shared.global [%r2], [%out], 4;
    cp.async.commit_group;
    ld.shared.u32 %r3, [%r2];
    cp.async.wait_group 0;
    ld.shared.u32 %r4, [%r2];
    mov.b64 %d1, {%r3, %r4};
    st.global.u64 [%out], %d1;)");
  for (std::uint32_t i = 0; i < 32; ++i) {
    REQUIRE(result[i] == both(7, i + 100));
  }
}

TEST_CASE("waiting for all but one group leaves the last one open") {
  const auto result = run_lanes(R"(
    mov.u32 %r1, buffer;
    mad.lo.u32 %r2, %thread, 16, %r1;
    cp.async.ca.shared.global [%r2], [%out], 4;
    cp.async.commit_group;
    cp.async.ca.shared.global [%r2+4], [%out], 4;
    cp.async.commit_group;
    cp.async.wait_group 1;
    ld.shared.v2.u32 {%r3, %r4}, [%r2];
    cp.async.wait_all;
    ld.shared.u32 %r5, [%r2+4];
    add.u32 %r4, %r4, %r5;
    mov.b64 %d1, {%r3, %r4};
    st.global.u64 [%out], %d1;)");
  for (std::uint32_t i = 0; i < 32; ++i) {
    REQUIRE(result[i] == both(i + 100, i + 100));
  }
}

TEST_CASE("what a copy does not read is filled with zeros") {
  const auto result = run_lanes(R"(
    mov.u32 %r1, buffer;
    mad.lo.u32 %r2, %thread, 16, %r1;
    st.shared.v4.u32 [%r2], {1, 2, 3, 4};
    mul.wide.u32 %d2, %thread, 16;
    add.u64 %d2, %base, %d2;
    cp.async.cg.shared.global.L2::128B [%r2], [%d2], 16, 4;
    cp.async.cg.shared.global [%r2+1024], [%d2], 16;
    cp.async.wait_all;
    ld.shared.v4.u32 {%r3, %r4, %r5, %r6}, [%r2];
    ld.shared.v4.u32 {%r7, %r8, %r9, %r10}, [%r2+1024];
    bar.sync 0;
    or.b32 %r4, %r4, %r5;
    or.b32 %r4, %r4, %r6;
    mov.b64 %d1, {%r3, %r4};
    st.global.u64 [%out], %d1;
    st.global.v4.u32 [%d2+1024], {%r7, %r8, %r9, %r10};)");
  for (std::uint32_t i = 0; i < 32; ++i) {
    REQUIRE(result[i] == 2 * i + 100);
    REQUIRE(result[128 + i] == i + 100);
    REQUIRE(result[128 + 32 + i] == i + 132);
  }
}

TEST_CASE("what a copy does not read needs not be there") {
  const auto result = run_lanes(R"(
    mov.u32 %r1, buffer;
    mad.lo.u32 %r2, %thread, 16, %r1;
    st.shared.v4.u32 [%r2], {1, 2, 3, 4};
    setp.lt.u32 %p1, %thread, 16;
    selp.u32 %r9, 8, 0, %p1;
    selp.u64 %d1, %out, 64, %p1;
    and.b64 %d1, %d1, -16;
    cp.async.ca.shared.global [%r2], [%d1], 16, %r9;
    cp.async.wait_all;
    ld.shared.u64 %d3, [%r2];
    ld.shared.u64 %d2, [%r2+8];
    bar.sync 0;
    add.u64 %d3, %d3, %d2;
    st.global.u64 [%out], %d3;)");
  for (std::uint32_t i = 0; i < 32; ++i) {
    REQUIRE(result[i] == (i < 16 ? i / 2 * 2 + 100 : 0));
  }
  const DeviceError behind = run_badly(R"(
    mov.u32 %r1, buffer;
    mov.u32 %r9, 4;
    cp.async.ca.shared.global [%r1], [%base+1048576], 16, %r9;)");
  REQUIRE(behind.code == DeviceErrorCode::kIllegalAddress);
}

TEST_CASE("a bulk store puts zeros where it says") {
  const auto result = run_lanes(R"(
    mov.u32 %r1, buffer;
    mad.lo.u32 %r2, %thread, 32, %r1;
    st.shared.v4.u32 [%r2], {1, 2, 3, 4};
    st.shared.v4.u32 [%r2+16], {5, 6, 7, 8};
    mov.u64 %d2, 16;
    st.bulk.weak.shared::cta [%r2+8], %d2, 0;
    ld.shared.v4.u32 {%r3, %r4, %r5, %r6}, [%r2];
    ld.shared.v4.u32 {%r7, %r8, %r9, %r10}, [%r2+16];
    add.u32 %r3, %r3, %r5;
    add.u32 %r4, %r4, %r6;
    add.u32 %r3, %r3, %r7;
    add.u32 %r4, %r4, %r10;
    mov.b64 %d1, {%r3, %r4};
    st.global.u64 [%out], %d1;)");
  for (std::uint32_t i = 0; i < 32; ++i) {
    REQUIRE(result[i] == both(1, 2 + 8));
  }
  REQUIRE(
      run_badly("mov.u32 %r1, buffer; mov.u64 %d2, 12; st.bulk.shared::cta [%r1], %d2, 0;").code ==
      DeviceErrorCode::kMisalignedAddress);
}

TEST_CASE("a bulk copy with a byte mask copies the bytes that it names") {
  const auto result = run_lanes(R"(
    mov.u32 %r1, buffer;
    mad.lo.u32 %r2, %thread, 16, %r1;
    st.shared.v4.u32 [%r2], {0x01010101, 0x02020202, 0x03030303, 0x04040404};
    fence.proxy.async;
    mul.wide.u32 %d2, %thread, 16;
    add.u64 %d2, %base, %d2;
    mov.u32 %r3, 0x8021;
    cvt.u16.u32 %h1, %r3;
    bar.sync 0;
    st.global.v4.u32 [%d2], {0, 0, 0, 0};
    fence.proxy.async;
    cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%d2], [%r2], 16, %h1;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;)");
  for (std::uint32_t i = 0; i < 32; ++i) {
    REQUIRE(result[2 * i] == 0x0000020000000001);
    REQUIRE(result[2 * i + 1] == 0x0400000000000000);
  }
}

TEST_CASE("an mbarrier counts arrivals and its phases alternate") {
  const auto result = run_lanes(R"(
    mbarrier.init.shared.b64 [barrier], 2;
    mbarrier.arrive.shared.b64 %d1, [barrier];
    mbarrier.pending_count.b64 %r1, %d1;
    mbarrier.test_wait.shared.b64 %p1, [barrier], %d1;
    mbarrier.arrive.shared.b64 %d2, [barrier];
    mbarrier.pending_count.b64 %r2, %d2;
    mbarrier.test_wait.shared.b64 %p2, [barrier], %d1;
    mbarrier.try_wait.parity.shared.b64 %p3, [barrier], 0;
    mbarrier.test_wait.parity.shared.b64 %p4, [barrier], 1;
    // One thread less from the next phase on.
    mbarrier.arrive_drop.shared.b64 %d3, [barrier];
    mbarrier.arrive.release.cta.shared::cta.b64 %d3, [barrier], 1;
    mbarrier.test_wait.parity.shared.b64 %p5, [barrier], 1;
    mbarrier.arrive.shared.b64 _, [barrier];
    mbarrier.test_wait.parity.shared.b64 %p6, [barrier], 0;
    mov.u32 %r3, 0;
    @%p1 or.b32 %r3, %r3, 1;
    @%p2 or.b32 %r3, %r3, 2;
    @%p3 or.b32 %r3, %r3, 4;
    @%p4 or.b32 %r3, %r3, 8;
    @%p5 or.b32 %r3, %r3, 16;
    @%p6 or.b32 %r3, %r3, 32;
    shl.b32 %r2, %r2, 8;
    or.b32 %r1, %r1, %r2;
    mov.b64 %d4, {%r1, %r3};
    st.global.u64 [%out], %d4;)",
                                1);
  REQUIRE(result[0] == both(0x102, 2 | 4 | 16 | 32));
}

TEST_CASE("bytes that are expected hold a phase until they are complete") {
  const auto result = run_lanes(R"(
    mov.u32 %r9, barrier;
    mbarrier.init.shared.b64 [%r9], 1;
    mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r9], 24;
    mbarrier.arrive.expect_tx.shared.b64 %d1, [%r9], 8;
    mbarrier.test_wait.shared.b64 %p1, [%r9], %d1;
    mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r9], 30;
    mbarrier.test_wait.shared.b64 %p2, [%r9], %d1;
    mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r9], 2;
    mbarrier.test_wait.shared.b64 %p3, [%r9], %d1;
    mbarrier.inval.shared.b64 [%r9];
    mbarrier.init.shared.b64 [%r9], 5;
    mbarrier.arrive.noComplete.shared.b64 %d2, [%r9], 3;
    mbarrier.arrive.noComplete.shared.b64 %d3, [%r9], 1;
    mbarrier.pending_count.b64 %r1, %d3;
    mov.u32 %r3, 0;
    @%p1 or.b32 %r3, %r3, 1;
    @%p2 or.b32 %r3, %r3, 2;
    @%p3 or.b32 %r3, %r3, 4;
    mov.b64 %d4, {%r1, %r3};
    st.global.u64 [%out], %d4;)",
                                1);
  REQUIRE(result[0] == both(2, 4));
}

TEST_CASE("threads of several warps meet at an mbarrier") {
  const auto result = run_lanes(R"(
    mov.u32 %r1, buffer;
    mad.lo.u32 %r2, %thread, 4, %r1;
    setp.eq.u32 %p1, %thread, 0;
    @%p1 mbarrier.init.shared.b64 [barrier], 128;
    bar.sync 0;
    st.shared.u32 [%r2], %thread;
    mbarrier.arrive.shared.b64 %d1, [barrier];
WAIT:
    mbarrier.try_wait.shared.b64 %p2, [barrier], %d1;
    @!%p2 bra WAIT;
    sub.u32 %r3, 127, %thread;
    mad.lo.u32 %r3, %r3, 4, %r1;
    ld.shared.u32 %r4, [%r3];
    cvt.u64.u32 %d2, %r4;
    st.global.u64 [%out], %d2;)",
                                128);
  for (std::uint64_t i = 0; i < 128; ++i) {
    REQUIRE(result[i] == 127 - i);
  }
}

TEST_CASE("copies signal the mbarrier that is to count them") {
  for (const std::string_view arrive :
       {"cp.async.mbarrier.arrive.noinc.shared.b64", "cp.async.mbarrier.arrive.shared.b64"}) {
    const bool counted = arrive.find("noinc") != std::string_view::npos;
    // Without .noinc the arrival is one that the mbarrier does not expect beforehand.
    const auto result = run_lanes(fmt::format(
        R"(
    mov.u32 %r1, buffer;
    mad.lo.u32 %r2, %thread, 8, %r1;
    setp.eq.u32 %p1, %thread, 0;
    @%p1 mbarrier.init.shared.b64 [barrier], 32;
    bar.sync 0;
    cp.async.ca.shared.global [%r2], [%out], 8;
    {} [barrier];
    {}
WAIT:
    mbarrier.try_wait.parity.shared.b64 %p2, [barrier], 0;
    @!%p2 bra WAIT;
    xor.b32 %r3, %thread, 1;
    mad.lo.u32 %r3, %r3, 8, %r1;
    ld.shared.u64 %d2, [%r3];
    st.global.u64 [%out], %d2;)",
        arrive, counted ? "" : "mbarrier.arrive.shared::cta.b64 _, [barrier];"));
    for (std::uint64_t i = 0; i < 32; ++i) {
      REQUIRE(result[i] == (i ^ 1) + 100);
    }
  }
}

TEST_CASE("bulk copies go to shared memory with an mbarrier and back in groups") {
  const auto result = run_lanes(R"(
    mov.u32 %r1, buffer;
    setp.ne.u32 %p1, %thread, 0;
    @%p1 bra WAIT;
    mbarrier.init.shared.b64 [barrier], 1;
    fence.mbarrier_init.release.cluster;
    mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [barrier], 256;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%base], 256, [barrier];
WAIT:
    bar.sync 0;
AGAIN:
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [barrier], 0;
    @!%p2 bra AGAIN;
    mad.lo.u32 %r2, %thread, 8, %r1;
    ld.shared.u64 %d1, [%r2];
    mul.lo.u64 %d1, %d1, 3;
    st.shared.u64 [%r2], %d1;
    fence.proxy.async.shared::cta;
    bar.sync 0;
    @%p1 bra END;
    cp.async.bulk.global.shared::cta.bulk_group [%base+512], [%r1], 256;
    cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u64 [%base+1024], [%r1], 256;
    cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32 [%base+1536], [%r1], 256;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group.read 0;
    cp.async.bulk.wait_group 0;
    ld.global.u64 %d5, [%base+512];
    st.global.u64 [%base+2048], %d5;
END:)");
  for (std::uint64_t i = 0; i < 32; ++i) {
    REQUIRE(result[i + 64] == (i + 100) * 3);
    REQUIRE(result[i + 128] == (i + 100) * 3 + i + 128 + 100);
    REQUIRE(result[i + 192] == (i + 100) * 3 + i + 192 + 100);
  }
  REQUIRE(result[256] == 300);
}

TEST_CASE("a request for the work of another block is answered through an mbarrier, and fails") {
  const std::string before =
      ".shared .align 16 .b8 response[16];\n.shared .align 8 .b8 barrier[8];\n";
  const auto values = test::run_lanes(R"(
    .reg .b128 %q;
    mov.u32 %r1, response;
    mov.u32 %r2, barrier;
    mov.b64 %d1, -1;
    setp.ne.u32 %p1, %thread, 0;
    @%p1 bra WAIT;
    st.shared.v2.b64 [%r1], {%d1, %d1};
    mbarrier.init.shared.b64 [%r2], 1;
    mbarrier.arrive.expect_tx.shared.b64 %d2, [%r2], 16;
    clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r1], [%r2];
WAIT:
    bar.sync 0;
AGAIN:
    mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0;
    @!%p2 bra AGAIN;
    ld.shared.b128 %q, [%r1];
    clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p3, %q;
    clusterlaunchcontrol.query_cancel.get_first_ctaid::y.b32.b128 %r3, %q;
    clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%r4, %r5, %r6, _}, %q;
    selp.u32 %r7, 1, 0, %p3;
    or.b32 %r7, %r7, %r3;
    or.b32 %r7, %r7, %r4;
    st.global.u32 [%out], %r7;)",
                                      64, before);
  // Of a response that says that it failed the block is nobody's; here it is 0.
  CHECK(values == std::vector<std::uint64_t>(64, 0));
  // What a device that cancels might have written.
  const auto found = test::run_lanes(R"(
    .reg .b128 %q;
    mov.b64 %d1, 0x0000000500000007;
    mov.b64 %d2, 0x0000000100000003;
    mov.b128 %q, {%d1, %d2};
    clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p3, %q;
    clusterlaunchcontrol.query_cancel.get_first_ctaid::z.b32.b128 %r3, %q;
    clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%r4, %r5, _, _}, %q;
    selp.u32 %r7, 1000, 0, %p3;
    mad.lo.u32 %r7, %r3, 100, %r7;
    mad.lo.u32 %r7, %r5, 10, %r7;
    add.u32 %r7, %r7, %r4;
    st.global.u32 [%out], %r7;)",
                                     1);
  CHECK(found == std::vector<std::uint64_t>{1357});
}

TEST_CASE("requests of multicast responses, and multicast addresses, are refused by name") {
  for (const std::string text :
       {"clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes."
        "multicast::cluster::all.b128 [%r1], [%r2];",
        "multimem.ld_reduce.weak.global.add.u32 %r1, [%base];",
        "multimem.st.weak.global.u32 [%base], %r1;",
        "multimem.red.relaxed.sys.global.add.u32 [%base], %r1;"}) {
    Device device(kernel_text("    " + text));
    const DeviceError error = device.run("k", shape({1}, {32}), std::uint64_t{0});
    CAPTURE(text, error.message);
    CHECK(error.code != DeviceErrorCode::kNone);
    CHECK(error.message.find(text.substr(0, text.find('.'))) != std::string::npos);
  }
}

TEST_CASE("a copy back that nobody waits for is made before the kernel ends") {
  const auto result = run_lanes(R"(
    mov.u32 %r1, buffer;
    st.shared.v2.u64 [%r1], {5, 6};
    cp.async.bulk.global.shared::cta.bulk_group [%base], [%r1], 16;
    cp.async.bulk.commit_group;)",
                                1);
  REQUIRE(result[0] == 5);
  REQUIRE(result[1] == 6);
}

TEST_CASE("mbarriers that were not made, arrivals too many and wrong spaces end the kernel") {
  const DeviceError unmade = run_badly("mbarrier.arrive.shared.b64 %d1, [barrier];");
  REQUIRE(unmade.code == DeviceErrorCode::kTrap);
  REQUIRE(unmade.message.find("where none was initialised") != std::string::npos);
  const DeviceError many = run_badly(
      "mbarrier.init.shared.b64 [barrier], 2;\n mbarrier.arrive.shared.b64 %d1, [barrier], 3;");
  REQUIRE(many.code == DeviceErrorCode::kTrap);
  REQUIRE(many.message.find("does not expect") != std::string::npos);
  const DeviceError space = run_badly("mbarrier.init.b64 [%base], 2;");
  REQUIRE(space.code == DeviceErrorCode::kIllegalAddress);
  REQUIRE(space.message.find("outside shared memory") != std::string::npos);
  REQUIRE(run_badly("mbarrier.init.shared.b64 [barrier+4], 2;").code ==
          DeviceErrorCode::kMisalignedAddress);
}

TEST_CASE("copies outside allocations or off their alignment end the kernel where they are asked") {
  const DeviceError read =
      run_badly("mov.u32 %r1, buffer;\n cp.async.ca.shared.global [%r1], [%base+512], 4;");
  REQUIRE(read.code == DeviceErrorCode::kIllegalAddress);
  REQUIRE(!read.is_write);
  REQUIRE(run_badly("mov.u32 %r1, buffer;\n"
                    " cp.async.ca.shared.global [%r1+4096], [%base], 16;")
              .code == DeviceErrorCode::kIllegalAddress);
  const std::string bulk =
      "mov.u32 %r1, buffer;\n"
      " cp.async.bulk.global.shared::cta.bulk_group [%base+{}], [%r1], {};";
  const DeviceError beyond = run_badly(fmt::format(fmt::runtime(bulk), 256, 512));
  REQUIRE(beyond.code == DeviceErrorCode::kIllegalAddress);
  REQUIRE(beyond.is_write);
  REQUIRE(beyond.access_bytes == 512);
  REQUIRE(run_badly(fmt::format(fmt::runtime(bulk), 8, 16)).code ==
          DeviceErrorCode::kMisalignedAddress);
  REQUIRE(run_badly(fmt::format(fmt::runtime(bulk), 0, 20)).code ==
          DeviceErrorCode::kMisalignedAddress);
}

TEST_CASE("a phase that nobody can end is reported as a deadlock, whatever the schedule") {
  const std::string body = R"(
    setp.eq.u32 %p1, %thread, 0;
    @%p1 mbarrier.init.shared.b64 [barrier], 65;
    bar.sync 0;
    mbarrier.arrive.shared.b64 %d1, [barrier];
WAIT:
    mbarrier.try_wait.shared.b64 %p2, [barrier], %d1;
    @!%p2 bra WAIT;)";
  for (const bool seeded : {false, true}) {
    MachineOptions options;
    options.launch_timeout_ms = 20000;
    if (seeded) {
      options.seed = 5;
    }
    Device device(kernel_text(body, std::string(kShared)), options);
    const DeviceError error = device.run("k", shape({1}, {64}), std::uint64_t{0});
    INFO(error.message);
    REQUIRE(error.code == DeviceErrorCode::kDeadlock);
    REQUIRE(error.message.find("mbarrier.try_wait.shared.b64 %p2, [barrier], %d1") !=
            std::string::npos);
  }
}

// As libcu++ waits: some polls in a row, then one between sleeps; the second warp is out of step.
TEST_CASE("threads that sleep between polls of a phase that nobody can end are a deadlock too") {
  MachineOptions options;
  options.launch_timeout_ms = 100000;
  Device device(kernel_text(R"(
    setp.eq.u32 %p1, %thread, 0;
    @%p1 mbarrier.init.shared.b64 [barrier], 65;
    bar.sync 0;
    mbarrier.arrive.shared.b64 %d1, [barrier];
    shr.u32 %r1, %thread, 5;
WAIT:
    mov.u64 %d2, %globaltimer;
    setp.lt.s32 %p3, %r1, 16;
    @%p3 bra POLL;
    nanosleep.u32 1000;
POLL:
    add.s32 %r1, %r1, 1;
    mbarrier.try_wait.shared.b64 %p2, [barrier], %d1;
    @!%p2 bra WAIT;)",
                            std::string(kShared)),
                options);
  const DeviceError error = device.run("k", shape({1}, {64}), std::uint64_t{0});
  INFO(error.message);
  REQUIRE(error.code == DeviceErrorCode::kDeadlock);
  REQUIRE(error.message.find("warp 1, lanes 0xffffffff, at PTX line") != std::string::npos);
}

TEST_CASE("polling an mbarrier for long is no deadlock while another warp works") {
  const auto result = run_lanes(R"(
    setp.eq.u32 %p1, %thread, 0;
    @%p1 mbarrier.init.shared.b64 [barrier], 1;
    bar.sync 0;
    setp.ge.u32 %p2, %thread, 32;
    mov.u32 %r1, 0;
    @%p2 bra WORK;
WAIT:
    mbarrier.try_wait.parity.shared.b64 %p3, [barrier], 0;
    @!%p3 bra WAIT;
    bra END;
WORK:
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p4, %r1, 3000000;
    @%p4 bra WORK;
    setp.eq.u32 %p5, %thread, 32;
    @%p5 mbarrier.arrive.shared.b64 _, [barrier];
END:
    cvt.u64.u32 %d1, %r1;
    st.global.u64 [%out], %d1;)",
                                64);
  REQUIRE(result[0] == 0);
  REQUIRE(result[63] == 3000000);
}

// Clusters of several blocks: their registers, barrier, and each other's shared memory.
#include <fmt/format.h>

#include "tests/unit/emulator/device.h"

using namespace barracuda::emulator;  // NOLINT(google-build-using-namespace)
using test::Device;
using test::kernel_text;
using test::shape;

namespace {

constexpr std::string_view kShared =
    ".shared .align 16 .b8 box[256];\n.shared .align 8 .b64 barrier;\n";
constexpr std::string_view kMeet =
    "barrier.cluster.arrive.release.aligned;\n barrier.cluster.wait.acquire.aligned;\n";

std::string with_meetings(std::string body) {
  constexpr std::string_view kMark = "MEET;";
  for (std::size_t at = body.find(kMark); at != std::string::npos; at = body.find(kMark)) {
    body.replace(at, kMark.size(), kMeet);
  }
  return kernel_text(body, std::string(kShared));
}

LaunchConfig clustered(Dim3 grid, Dim3 block, Dim3 cluster) {
  LaunchConfig config = shape(grid, block);
  config.cluster = cluster;
  return config;
}

std::vector<std::uint64_t> run_blocks(const std::string& body, std::uint32_t blocks,
                                      std::uint32_t threads, std::uint32_t cluster,
                                      const MachineOptions& options = {}) {
  Device device(with_meetings(body), options);
  const std::uint64_t out = device.buffer(std::vector<std::uint64_t>(blocks * threads, 0));
  device.run_well("k", clustered({blocks}, {threads}, {cluster}), out);
  return device.read<std::uint64_t>(out, blocks * threads);
}

DeviceError run_badly(const std::string& body, std::uint32_t cluster = 2) {
  Device device(with_meetings(body));
  const std::uint64_t out = device.buffer(std::vector<std::uint64_t>(64, 0));
  return device.run("k", clustered({cluster}, {1}, {cluster}), out);
}

}  // namespace

TEST_CASE("blocks know their place in the cluster and the cluster's in the grid") {
  Device device(kernel_text(R"(
    mov.u32 %r1, %cluster_ctaid.x;
    mov.u32 %r2, %cluster_ctaid.y;
    mov.u32 %r3, %cluster_ctarank;
    mov.u32 %r4, %clusterid.x;
    mov.u32 %r5, %clusterid.y;
    mov.u32 %r6, %cluster_nctaid.x;
    mov.u32 %r7, %cluster_nctarank;
    mov.u32 %r8, %nclusterid.x;
    mov.u32 %r9, %ctaid.x;
    mov.u32 %r10, %ctaid.y;
    mov.u32 %r11, %nctaid.x;
    mad.lo.u32 %r12, %r10, %r11, %r9;
    mul.wide.u32 %d1, %r12, 32;
    add.u64 %d1, %base, %d1;
    st.global.v4.u32 [%d1], {%r1, %r2, %r3, %r4};
    st.global.v4.u32 [%d1+16], {%r5, %r6, %r7, %r8};)"));
  const std::uint64_t out = device.buffer(std::vector<std::uint32_t>(6 * 4 * 8, 99));
  device.run_well("k", clustered({6, 4}, {1}, {3, 2}), out);
  const auto values = device.read<std::uint32_t>(out, 6 * 4 * 8);
  for (std::uint32_t y = 0; y < 4; ++y) {
    for (std::uint32_t x = 0; x < 6; ++x) {
      const std::uint32_t* v = &values[(y * 6 + x) * 8];
      const std::vector<std::uint32_t> expected = {x % 3, y % 2, y % 2 * 3 + x % 3, x / 3, y / 2, 3,
                                                   6,     2};
      REQUIRE(std::vector<std::uint32_t>(v, v + 8) == expected);
    }
  }
}

TEST_CASE("a block reads its neighbour's shared memory after the cluster's barrier") {
  const std::string body = R"(
    mov.u32 %r1, %cluster_ctarank;
    mov.u32 %r2, %cluster_nctarank;
    mov.u32 %r3, box;
    mov.u32 %r4, %tid.x;
    mad.lo.u32 %r5, %r4, 4, %r3;
    st.shared.u32 [%r5], %thread;
    MEET;
    add.u32 %r6, %r1, 1;
    rem.u32 %r6, %r6, %r2;
    mapa.shared::cluster.u32 %r7, %r5, %r6;
    ld.shared::cluster.u32 %r8, [%r7];
    cvt.u64.u32 %d1, %r5;
    cvta.shared.u64 %d2, %d1;
    mapa.u64 %d3, %d2, %r6;
    ld.u32 %r9, [%d3];
    getctarank.u64 %r10, %d3;
    getctarank.shared::cluster.u32 %r11, %r5;
    isspacep.shared::cta %p1, %d3;
    isspacep.shared::cluster %p2, %d3;
    selp.u32 %r12, 1, 0, %p1;
    selp.u32 %r13, 2, 0, %p2;
    add.u32 %r12, %r12, %r13;
    sub.u32 %r9, %r9, %r8;
    sub.u32 %r10, %r10, %r6;
    sub.u32 %r11, %r11, %r1;
    or.b32 %r9, %r9, %r10;
    or.b32 %r9, %r9, %r11;
    shl.b32 %r9, %r9, 8;
    or.b32 %r9, %r9, %r12;
    MEET;
    mov.b64 %d4, {%r8, %r9};
    st.global.u64 [%out], %d4;)";
  MachineOptions seeded;
  seeded.seed = 11;
  MachineOptions two;
  two.workers = 2;
  for (const MachineOptions& options : {MachineOptions{}, seeded, two}) {
    const auto result = run_blocks(body, 12, 48, 4, options);
    for (std::uint32_t i = 0; i < result.size(); ++i) {
      const std::uint32_t block = i / 48, neighbour = block / 4 * 4 + (block + 1) % 4;
      REQUIRE(static_cast<std::uint32_t>(result[i]) == neighbour * 48 + i % 48);
      REQUIRE(result[i] >> 32 == 2);
    }
  }
}

TEST_CASE("atomics and stores reach another block's shared memory") {
  const auto result = run_blocks(R"(
    mov.u32 %r1, %cluster_ctarank;
    mov.u32 %r2, box;
    mapa.shared::cluster.u32 %r3, %r2, 0;
    MEET;
    red.shared::cluster.add.u32 [%r3], 1;
    atom.shared::cluster.max.u32 %r4, [%r3+4], %thread;
    mad.lo.u32 %r5, %r1, 4, %r3;
    st.shared::cluster.u32 [%r5+16], %r1;
    MEET;
    ld.shared.u32 %r6, [%r2];
    ld.shared.u32 %r7, [%r2+4];
    ld.shared.v4.u32 {%r8, %r9, %r10, %r11}, [%r2+16];
    add.u32 %r7, %r7, %r9;
    add.u32 %r7, %r7, %r10;
    add.u32 %r7, %r7, %r11;
    mov.b64 %d4, {%r6, %r7};
    st.global.u64 [%out], %d4;)",
                                 4, 64, 4);
  REQUIRE(result[0] == (std::uint64_t{255 + 1 + 2 + 3} << 32 | 256));
  REQUIRE(result[64] == 0);
}

TEST_CASE("asynchronous stores and reductions signal the receiver's mbarrier") {
  const auto result = run_blocks(R"(
    mov.u32 %r1, %cluster_ctarank;
    mov.u32 %r2, box;
    mov.u32 %r3, barrier;
    mbarrier.init.shared.b64 [%r3], 1;
    st.shared.u32 [%r2+8], 5;
    mbarrier.arrive.expect_tx.release.cluster.shared::cta.b64 _, [%r3], 24;
    MEET;
    xor.b32 %r4, %r1, 1;
    mapa.shared::cluster.u32 %r5, %r2, %r4;
    mapa.shared::cluster.u32 %r6, %r3, %r4;
    add.u32 %r7, %r1, 40;
    cvt.u64.u32 %d5, %r7;
    st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b64 [%r5], %d5, [%r6];
    red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.s32 [%r5+8], -7, [%r6];
    st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r5+24], %r7, [%r6];
    st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%r5+16], {%r7, %r4}, [%r6];
WAIT:
    mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%r3], 0;
    @!%p1 bra WAIT;
    ld.shared.u64 %d1, [%r2];
    ld.shared.s32 %r8, [%r2+8];
    ld.shared.v2.u32 {%r9, %r10}, [%r2+16];
    ld.shared.u32 %r12, [%r2+24];
    sub.u32 %r12, %r12, %r9;
    add.u32 %r10, %r10, %r12;
    mad.lo.u32 %r9, %r9, 10, %r10;
    cvt.u32.u64 %r11, %d1;
    mad.lo.u32 %r9, %r9, 100, %r11;
    mov.b64 %d2, {%r9, %r8};
    st.global.u64 [%out], %d2;
    MEET;)",
                                 2, 1, 2);
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    const std::uint32_t sent = (rank ^ 1) + 40;
    REQUIRE(static_cast<std::uint32_t>(result[rank]) == (sent * 10 + rank) * 100 + sent);
    REQUIRE(static_cast<std::int32_t>(result[rank] >> 32) == -2);
  }
}

TEST_CASE("asynchronous stores and reductions of global memory are made at once") {
  const auto result = run_blocks(R"(
    mov.u32 %r1, 7;
    st.async.release.gpu.global.b32 [%out], %r1;
    red.async.release.gpu.global.add.u32 [%out], 5;
    st.async.mmio.release.sys.global.b16 [%out+6], 3;)",
                                 1, 1, 1);
  REQUIRE(result[0] == (std::uint64_t{3} << 48 | 12));
}

TEST_CASE("arriving at the cluster's barrier and waiting for it order what lies before and after") {
  const auto result = run_blocks(R"(
    mov.u32 %r1, %cluster_ctarank;
    mov.u32 %r2, box;
    add.u32 %r3, %r1, 50;
    mapa.shared::cluster.u32 %r4, %r2, 0;
    mad.lo.u32 %r4, %r1, 4, %r4;
    st.shared::cluster.u32 [%r4], %r3;
    barrier.cluster.arrive;
    barrier.cluster.wait;
    mapa.shared::cluster.u32 %r4, %r2, 0;
    ld.shared::cluster.v4.u32 {%r5, %r6, %r7, %r8}, [%r4];
    fence.acquire.sync_restrict::shared::cluster.cluster;
    mad.lo.u32 %r5, %r5, 100, %r6;
    mad.lo.u32 %r7, %r7, 100, %r8;
    mov.b64 %d1, {%r5, %r7};
    st.global.u64 [%out], %d1;
    barrier.cluster.arrive;
    barrier.cluster.wait;)",
                                 4, 33, 4);
  REQUIRE(result == std::vector<std::uint64_t>(4 * 33, std::uint64_t{5253} << 32 | 5051));
}

TEST_CASE("a multicast copy arrives in each block that it names") {
  const auto result = run_blocks(R"(
    mov.u32 %r1, %cluster_ctarank;
    mov.u32 %r2, box;
    mov.u32 %r3, barrier;
    st.global.u64 [%out], 77;
    mbarrier.init.shared.b64 [%r3], 1;
    mbarrier.arrive.expect_tx.shared.b64 _, [%r3], 16;
    MEET;
    setp.ne.u32 %p1, %r1, 1;
    mov.u16 %h1, 7;
    @%p1 bra WAIT;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r2], [%base], 16, [%r3], %h1;
WAIT:
    mbarrier.try_wait.parity.shared.b64 %p2, [%r3], 0;
    @!%p2 bra WAIT;
    ld.shared.u64 %d1, [%r2+8];
    MEET;
    add.u64 %d1, %d1, 1;
    st.global.u64 [%out], %d1;)",
                                 3, 1, 3);
  REQUIRE(result == std::vector<std::uint64_t>{78, 78, 78});
}

TEST_CASE("the cluster's shape may come from the kernel") {
  std::string text = kernel_text(R"(
    mov.u32 %r1, %cluster_nctarank;
    cvt.u64.u32 %d1, %r1;
    st.global.u64 [%out], %d1;)");
  const std::string header = "(.param .u64 k_param_0)\n";
  text.insert(text.find(header) + header.size(), ".explicitcluster\n.reqnctapercluster 2, 1, 1\n");
  Device device(text);
  const std::uint64_t out = device.buffer(std::vector<std::uint64_t>(4, 0));
  device.run_well("k", shape({4}, {1}), out);
  REQUIRE(device.read<std::uint64_t>(out, 4) == std::vector<std::uint64_t>(4, 2));
  REQUIRE(device.run("k", shape({3}, {1}), out).code != DeviceErrorCode::kNone);
}

TEST_CASE("the shared memory of no block, of one that has ended and beyond its end is not there") {
  const std::string read =
      "mov.u32 %r2, box;\n mapa.shared::cluster.u32 %r3, %r2, {};\n"
      " ld.shared::cluster.u32 %r4, [%r3+{}];\n MEET;";
  REQUIRE(run_badly(fmt::format(fmt::runtime(read), 2, 0)).code ==
          DeviceErrorCode::kIllegalAddress);
  REQUIRE(run_badly(fmt::format(fmt::runtime(read), 1, 512)).code ==
          DeviceErrorCode::kIllegalAddress);
  REQUIRE(run_badly(fmt::format(fmt::runtime(read), 1, 0)).code == DeviceErrorCode::kNone);
  const DeviceError ended = run_badly(R"(
    mov.u32 %r1, %cluster_ctarank;
    setp.eq.u32 %p1, %r1, 0;
    @%p1 exit;
    mov.u32 %r2, box;
    mapa.shared::cluster.u32 %r3, %r2, 0;
    ld.shared::cluster.u32 %r4, [%r3];)");
  REQUIRE(ended.code == DeviceErrorCode::kIllegalAddress);
  REQUIRE(ended.message.find("has ended") != std::string::npos);
}

TEST_CASE("blocks of a cluster that wait for each other in vain are reported") {
  const DeviceError error = run_badly(R"(
    mov.u32 %r1, %cluster_ctarank;
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra FIRST;
    bar.sync 1, 64;
FIRST:
    MEET;)");
  INFO(error.message);
  REQUIRE(error.code == DeviceErrorCode::kDeadlock);
  REQUIRE(error.message.find("barrier.cluster.wait") != std::string::npos);
  REQUIRE(error.message.find("block (1,0,0)") != std::string::npos);
}

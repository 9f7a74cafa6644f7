// Blocks that wait for each other, atomics from many blocks, seeds, launches that fail.
#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "tests/unit/emulator/device.h"

using namespace barracuda::emulator;  // NOLINT(google-build-using-namespace)
using test::Device;
using test::kernel_text;
using test::shape;

namespace {

constexpr std::string_view kCounters =
    ".global .align 4 .u32 ticket;\n.global .align 4 .u32 flags[4096];\n";

// Block b waits for block b + 1's flag: only the last one can go on at first.
std::string reverse_chain() {
  return kernel_text(R"(
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %nctaid.x;
    mov.u64 %d1, flags;
    mul.wide.u32 %d2, %r1, 4;
    add.u64 %d1, %d1, %d2;
    add.u32 %r3, %r1, 1;
    setp.eq.u32 %p1, %r3, %r2;
    @%p1 bra READY;
WAIT:
    ld.acquire.gpu.global.u32 %r4, [%d1+4];
    setp.eq.u32 %p2, %r4, 0;
    @%p2 bra WAIT;
READY:
    atom.global.add.u32 %r5, [ticket], 1;
    cvt.u64.u32 %d3, %r5;
    st.global.u64 [%out], %d3;
    st.release.gpu.global.u32 [%d1], 1;)",
                     std::string(kCounters));
}

void check_reverse_chain(const MachineOptions& options, std::uint32_t blocks) {
  Device device(reverse_chain(), options);
  const std::uint64_t out = device.buffer(std::vector<std::uint64_t>(blocks, 99));
  device.run_well("k", shape({blocks}, {1}), out);
  const auto order = device.read<std::uint64_t>(out, blocks);
  for (std::uint64_t i = 0; i < blocks; ++i) {
    REQUIRE(order[i] == blocks - 1 - i);
  }
}

// Each block writes, all meet, each reads its neighbour's value: ten rounds.
std::string grid_exchange() {
  return kernel_text(R"(
    mov.u32 %r20, 0;
    mov.u32 %r5, %envreg2;
    cvt.u64.u32 %d6, %r5;
    mov.u32 %r6, %envreg1;
    cvt.u64.u32 %d7, %r6;
    bfi.b64 %d1, %d7, %d6, 32, 32;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %nctaid.x;
    cvt.u64.u32 %d20, %r1;
    st.global.u64 [%out], %d20;
ROUND:
    barrier.sync 0;
    mov.u32 %r7, %tid.x;
    setp.ne.u32 %p2, %r7, 0;
    @%p2 bra ARRIVED;
    add.s64 %d8, %d1, 4;
    neg.s32 %r23, %r2;
    add.u32 %r23, %r23, 1;
    mov.u32 %r24, 0x80000000;
    add.u32 %r25, %r24, %r23;
    setp.eq.u32 %p3, %r1, 0;
    selp.b32 %r13, %r25, 1, %p3;
    atom.add.release.gpu.u32 %r12, [%d8], %r13;
SPIN:
    ld.acquire.gpu.u32 %r26, [%d8];
    xor.b32 %r27, %r26, %r12;
    setp.gt.s32 %p4, %r27, -1;
    @%p4 bra SPIN;
ARRIVED:
    barrier.sync 0;
    // Twice the round: even rounds read, odd rounds write.
    and.b32 %r21, %r20, 1;
    setp.eq.u32 %p5, %r21, 1;
    @%p5 bra WRITE;
    add.u32 %r28, %r1, 1;
    rem.u32 %r28, %r28, %r2;
    mad.lo.u32 %r29, %r28, %a1, %r7;
    mul.wide.u32 %d21, %r29, 8;
    add.u64 %d21, %base, %d21;
    ld.global.u64 %d20, [%d21];
    bra NEXT;
WRITE:
    st.global.u64 [%out], %d20;
NEXT:
    add.u32 %r20, %r20, 1;
    setp.lt.u32 %p6, %r20, 20;
    @%p6 bra ROUND;)");
}

void check_grid_exchange(const MachineOptions& options, std::uint32_t blocks) {
  Device device(grid_exchange(), options);
  const std::uint64_t out = device.buffer(std::vector<std::uint64_t>(blocks * 64, 99));
  LaunchConfig config = shape({blocks}, {64});
  config.cooperative = true;
  device.run_well("k", config, out);
  const auto values = device.read<std::uint64_t>(out, blocks * 64);
  for (std::uint64_t i = 0; i < values.size(); ++i) {
    REQUIRE(values[i] == (i / 64 + 10) % blocks);
  }
}

// What an unsynchronised counter shows depends on the interleaving.
std::vector<std::uint64_t> racy_order(std::uint64_t seed) {
  MachineOptions options;
  options.seed = seed;
  Device device(kernel_text(R"(
    mov.u32 %r9, 0;
AGAIN:
    ld.global.u32 %r1, [ticket];
    add.u32 %r1, %r1, %r9;
    add.u32 %r1, %r1, 1;
    st.global.u32 [ticket], %r1;
    add.u32 %r9, %r9, 1;
    setp.lt.u32 %p1, %r9, 50;
    @%p1 bra AGAIN;
    mov.u64 %d2, %clock64;
    cvt.u64.u32 %d1, %r1;
    xor.b64 %d1, %d1, %d2;
    st.global.u64 [%out], %d1;)",
                            std::string(kCounters)),
                options);
  const std::uint64_t out = device.buffer(std::vector<std::uint64_t>(64 * 12, 0));
  device.run_well("k", shape({12}, {64}), out);
  return device.read<std::uint64_t>(out, 64 * 12);
}

// Odd and even lanes of a warp do work of these many instructions, then all meet: at one
// instruction or at two.
std::string meet_again_and_again(std::uint32_t even, std::uint32_t odd, bool at_one_place) {
  const auto work = [](std::uint32_t instructions) {
    std::string text;
    for (std::uint32_t i = 0; i < instructions; ++i) {
      text += "    add.u32 %r3, %r3, 1;\n";
    }
    return text;
  };
  return kernel_text(fmt::format(R"(
    and.b32 %r1, %thread, 1;
    setp.eq.u32 %p1, %r1, 1;
    mov.u32 %r2, 0;
    mov.u32 %r3, 0;
AGAIN:
    @%p1 bra ODD;
{}    {}
    bra MEET;
ODD:
{}    {}
MEET:
    {}
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p2, %r2, 150000;
    @%p2 bra AGAIN;
    cvt.u64.u32 %d1, %r2;
    st.global.u64 [%out], %d1;)",
                                 work(even), at_one_place ? "" : "bar.warp.sync -1;", work(odd),
                                 at_one_place ? "" : "bar.warp.sync -1;",
                                 at_one_place ? "bar.warp.sync -1;" : ""));
}

// In which order the blocks, or the warps of one, come by.
std::vector<std::uint64_t> order_of_coming(const MachineOptions& options, std::uint32_t blocks,
                                           std::uint32_t threads) {
  Device device(kernel_text(R"(
    atom.global.add.u32 %r5, [ticket], 1;
    cvt.u64.u32 %d3, %r5;
    st.global.u64 [%out], %d3;)",
                            std::string(kCounters)),
                options);
  const std::uint64_t out = device.buffer(std::vector<std::uint64_t>(blocks * threads, 99));
  device.run_well("k", shape({blocks}, {threads}), out);
  return device.read<std::uint64_t>(out, blocks * threads);
}

// Whether each thread found the lock taken when it tried, once; who took it gives it back.
std::vector<std::uint64_t> refusals(const MachineOptions& options, std::uint32_t blocks,
                                    std::uint32_t threads) {
  Device device(kernel_text(R"(
    atom.global.cas.b32 %r5, [ticket], 0, 1;
    cvt.u64.u32 %d3, %r5;
    st.global.u64 [%out], %d3;
    setp.ne.u32 %p1, %r5, 0;
    @%p1 bra REFUSED;
    st.relaxed.gpu.global.u32 [ticket], 0;
REFUSED:)",
                            std::string(kCounters)),
                options);
  const std::uint64_t out = device.buffer(std::vector<std::uint64_t>(blocks * threads, 99));
  device.run_well("k", shape({blocks}, {threads}), out);
  return device.read<std::uint64_t>(out, blocks * threads);
}

}  // namespace

TEST_CASE("without a seed the first blocks meet, and the later ones find what these left") {
  MachineOptions one;
  one.workers = 1;
  MachineOptions reversed;
  reversed.is_reversed = true;
  for (const MachineOptions& options : {one, reversed}) {
    std::vector<std::uint64_t> blocks = refusals(options, 9, 1);
    if (options.is_reversed) {
      std::ranges::reverse(blocks);
    }
    REQUIRE(blocks == std::vector<std::uint64_t>{0, 1, 1, 1, 0, 0, 0, 0, 0});
  }
  REQUIRE(std::ranges::count(refusals(one, 1, 96), 0U) == 1);
}

TEST_CASE("the reversed schedule lets the last block and the last warp come first") {
  MachineOptions reversed;
  reversed.is_reversed = true;
  const auto blocks = order_of_coming(reversed, 40, 1);
  for (std::uint64_t block = 0; block < blocks.size(); ++block) {
    REQUIRE(blocks[block] == 39 - block);
  }
  const auto threads = order_of_coming(reversed, 1, 96);
  REQUIRE(threads[64] == 0);
  REQUIRE(threads[32] == 32);
  REQUIRE(threads[0] == 64);
  check_reverse_chain(reversed, 60);
  check_grid_exchange(reversed, 9);
}

TEST_CASE("lanes that meet when a turn ends are not taken for a deadlock") {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    for (const bool at_one_place : {true, false}) {
      const auto work = static_cast<std::uint32_t>(seed);
      MachineOptions options;
      options.seed = seed;
      Device device(meet_again_and_again(work, work * 5 % 7, at_one_place), options);
      const std::uint64_t out = device.buffer(std::vector<std::uint64_t>(32, 0));
      INFO("seed " << seed << (at_one_place ? ", one place" : ", two places"));
      device.run_well("k", shape({1}, {32}), out);
      REQUIRE(device.read<std::uint64_t>(out, 32) == std::vector<std::uint64_t>(32, 150000));
    }
  }
}

TEST_CASE("blocks that wait for blocks that have not started all make progress") {
  MachineOptions one;
  one.workers = 1;
  check_reverse_chain(one, 200);
  MachineOptions two;
  two.workers = 2;
  check_reverse_chain(two, 100);
  MachineOptions seeded;
  seeded.seed = 7;
  check_reverse_chain(seeded, 60);
}

TEST_CASE("a cooperative grid meets at its barrier") {
  MachineOptions one;
  one.workers = 1;
  check_grid_exchange(one, 37);
  MachineOptions three;
  three.workers = 3;
  check_grid_exchange(three, 16);
  MachineOptions seeded;
  seeded.seed = 3;
  check_grid_exchange(seeded, 9);
}

TEST_CASE("atomics of many blocks on several workers lose nothing") {
  MachineOptions options;
  options.workers = 4;
  Device device(kernel_text(R"(
    mov.u32 %r9, 0;
AGAIN:
    atom.global.add.u32 %r1, [%base], 1;
    red.global.max.u32 [%base+8], %thread;
    atom.global.add.f32 %f1, [%base+16], 0f3F800000;
    atom.global.add.f64 %fd1, [%base+24], 0d4000000000000000;
    atom.global.inc.u32 %r2, [%base+32], 9;
    add.u32 %r9, %r9, 1;
    setp.lt.u32 %p1, %r9, 4;
    @%p1 bra AGAIN;)"),
                options);
  const std::uint64_t out = device.buffer(std::vector<std::uint64_t>(8, 0));
  device.run_well("k", shape({40}, {96}), out);
  const auto result = device.read<std::uint64_t>(out, 5);
  const std::uint32_t operations = 40 * 96 * 4;
  REQUIRE(result[0] == operations);
  REQUIRE(result[1] == 40 * 96 - 1);
  REQUIRE(std::bit_cast<float>(static_cast<std::uint32_t>(result[2])) ==
          static_cast<float>(operations));
  REQUIRE(std::bit_cast<double>(result[3]) == 2.0 * operations);
  REQUIRE(result[4] == operations % 10);
}

TEST_CASE("the same seed gives the same interleaving, another seed another") {
  const auto first = racy_order(1);
  REQUIRE(first == racy_order(1));
  REQUIRE(first != racy_order(2));
}

TEST_CASE("three-dimensional blocks and grids have their indices") {
  Device device(R"(.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
  .reg .b32 %r<20>;
  .reg .b64 %d<5>;
  ld.param.u64 %d1, [out];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %tid.y;
  mov.u32 %r3, %tid.z;
  mov.u32 %r4, %ntid.x;
  mov.u32 %r5, %ntid.y;
  mov.u32 %r6, %ntid.z;
  mov.u32 %r7, %ctaid.x;
  mov.u32 %r8, %ctaid.y;
  mov.u32 %r9, %ctaid.z;
  mov.u32 %r10, %nctaid.x;
  mov.u32 %r11, %nctaid.y;
  mad.lo.u32 %r12, %r9, %r11, %r8;
  mad.lo.u32 %r12, %r12, %r10, %r7;
  mad.lo.u32 %r12, %r12, %r6, %r3;
  mad.lo.u32 %r12, %r12, %r5, %r2;
  mad.lo.u32 %r12, %r12, %r4, %r1;
  mul.wide.u32 %d2, %r12, 4;
  add.u64 %d1, %d1, %d2;
  mad.lo.u32 %r13, %r3, 10, %r2;
  mad.lo.u32 %r13, %r13, 10, %r1;
  mad.lo.u32 %r14, %r9, 10, %r8;
  mad.lo.u32 %r14, %r14, 10, %r7;
  mad.lo.u32 %r13, %r14, 1000, %r13;
  st.global.u32 [%d1], %r13;
  ret;
}
)");
  const std::uint64_t out = device.buffer(std::vector<std::uint32_t>(2 * 3 * 2 * 5 * 3 * 4, 0));
  device.run_well("k", shape({2, 3, 2}, {5, 3, 4}), out);
  const auto values = device.read<std::uint32_t>(out, 2 * 3 * 2 * 5 * 3 * 4);
  std::size_t at = 0;
  for (std::uint32_t block = 0; block < 12; ++block) {
    for (std::uint32_t thread = 0; thread < 60; ++thread, ++at) {
      const std::uint32_t b = block / 6 * 100 + block / 2 % 3 * 10 + block % 2;
      const std::uint32_t t = thread / 15 * 100 + thread / 5 % 3 * 10 + thread % 5;
      REQUIRE(values[at] == b * 1000 + t);
    }
  }
}

TEST_CASE("an access beyond an allocation ends the kernel and is named") {
  Device device(kernel_text("  st.global.u64 [%out+8], 5;"));
  const std::uint64_t out = device.buffer(std::vector<std::uint64_t>(40, 0));
  const DeviceError error = device.run("k", shape({1}, {40}), out);
  REQUIRE(error.code == DeviceErrorCode::kIllegalAddress);
  REQUIRE(error.is_write);
  REQUIRE(error.access_bytes == 8);
  REQUIRE(error.address == out + 320);
  REQUIRE(error.thread.x == 39);
  REQUIRE(error.function == "k");
  REQUIRE(error.ptx_line == 22);
  REQUIRE(error.message ==
          "an out-of-bounds global write of 8 bytes at " + fmt::format("{:#x}", out + 320) +
              " (0 bytes after the end of the 320-byte allocation at " + fmt::format("{:#x}", out) +
              ") by thread (39,0,0) of block (0,0,0) in kernel k, PTX line 22: "
              "st.global.u64 [%out+8], 5;");
}

TEST_CASE("misaligned, freed and foreign addresses end the kernel") {
  Device device(kernel_text("  ld.global.u32 %r1, [%out+2];"));
  const std::uint64_t out = device.buffer(std::vector<std::uint64_t>(4, 0));
  REQUIRE(device.run("k", shape({1}, {1}), out).code == DeviceErrorCode::kMisalignedAddress);
  Device plain(kernel_text("  ld.u32 %r1, [%out];"));
  const std::uint64_t freed = plain.buffer(std::vector<std::uint64_t>(4, 0));
  plain.run_well("k", shape({1}, {1}), freed);
  REQUIRE(plain.machine().memory().release(freed));
  REQUIRE(plain.run("k", shape({1}, {1}), freed).code == DeviceErrorCode::kIllegalAddress);
  std::uint64_t host = 0;
  REQUIRE(plain.run("k", shape({1}, {1}), &host).code == DeviceErrorCode::kIllegalAddress);
  plain.machine().memory().register_host(reinterpret_cast<std::uint64_t>(&host), 8);
  plain.run_well("k", shape({1}, {1}), &host);
}

TEST_CASE("addresses of another space, odd vectors and atomics astray end the kernel") {
  struct Astray {
    std::string_view text;
    DeviceErrorCode code;
    bool is_write;
  };

  const Astray cases[] = {
      {"ld.shared.u32 %r1, [%base];", DeviceErrorCode::kIllegalAddress, false},
      {"mov.u64 %d1, small; ld.global.u32 %r1, [%d1];", DeviceErrorCode::kIllegalAddress, false},
      {"mov.u64 %d1, 0; st.u32 [%d1], %r1;", DeviceErrorCode::kIllegalAddress, true},
      {"st.local.u32 [%base], %r1;", DeviceErrorCode::kIllegalAddress, true},
      {"cvta.to.shared.u64 %d1, %base; st.shared.u32 [%d1], %r1;", DeviceErrorCode::kIllegalAddress,
       true},
      {"mov.b64 %d1, k_param_0; cvta.param.u64 %d1, %d1; st.u32 [%d1], %r1;",
       DeviceErrorCode::kIllegalAddress, true},
      {"ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%base+8];", DeviceErrorCode::kMisalignedAddress,
       false},
      {"ld.global.v2.u32 {%r1, %r2}, [%base+32];", DeviceErrorCode::kIllegalAddress, false},
      {"atom.global.add.u32 %r1, [%base+32], 1;", DeviceErrorCode::kIllegalAddress, true},
      {"atom.global.add.v4.f32 {%f1, %f2, %f3, %f4}, [%base+24], {%f1, %f2, %f3, %f4};",
       DeviceErrorCode::kMisalignedAddress, true},
      {"red.shared.add.u64 [small+4], 1;", DeviceErrorCode::kMisalignedAddress, true},
  };
  for (const Astray& astray : cases) {
    INFO(astray.text);
    Device device(kernel_text(std::string(astray.text), ".shared .align 8 .b8 small[16];\n"));
    const std::uint64_t out = device.buffer(std::vector<std::uint64_t>(4, 0));
    const DeviceError error = device.run("k", shape({1}, {1}), out);
    REQUIRE(error.code == astray.code);
    REQUIRE(error.is_write == astray.is_write);
    REQUIRE(error.function == "k");
    REQUIRE(error.ptx_line == 23);
  }
}

TEST_CASE("an access beyond shared memory ends the kernel") {
  Device device(kernel_text(
      "  shl.b32 %r1, %thread, 2;\n  st.shared.u32 [%r1], %r1;\n ld.shared.u32 %r2, [small];",
      ".shared .align 4 .b8 small[128];\n"));
  device.run_well("k", shape({1}, {32}), std::uint64_t{0});
  const DeviceError error = device.run("k", shape({1}, {33}), std::uint64_t{0});
  REQUIRE(error.code == DeviceErrorCode::kIllegalAddress);
  REQUIRE(error.thread.x == 32);
}

TEST_CASE("a vector read may end behind shared memory, as compilers widen it, a write may not") {
  const std::string memory = ".shared .align 16 .b8 small[28];\n";
  Device reads(kernel_text("ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [small+16];", memory));
  reads.run_well("k", shape({1}, {1}), std::uint64_t{0});
  Device writes(kernel_text("st.shared.v4.u32 [small+16], {%r1, %r2, %r3, %r4};", memory));
  REQUIRE(writes.run("k", shape({1}, {1}), std::uint64_t{0}).code ==
          DeviceErrorCode::kIllegalAddress);
  Device beyond(kernel_text("ld.shared.u32 %r1, [small+28];", memory));
  REQUIRE(beyond.run("k", shape({1}, {1}), std::uint64_t{0}).code ==
          DeviceErrorCode::kIllegalAddress);
}

TEST_CASE("a barrier that not all threads can reach is reported as a deadlock") {
  Device device(kernel_text(R"(
    setp.lt.u32 %p1, %thread, 16;
    @%p1 bra LOW;
    bar.sync 1;
    bra END;
LOW:
    bar.sync 2;
END:)"));
  const DeviceError error = device.run("k", shape({1}, {32}), std::uint64_t{0});
  REQUIRE(error.code == DeviceErrorCode::kDeadlock);
  REQUIRE(error.message.find("bar.sync 1") != std::string::npos);
  REQUIRE(error.message.find("bar.sync 2") != std::string::npos);
  REQUIRE(error.message.find("0x0000ffff") != std::string::npos);
}

TEST_CASE("a deadlock says which lanes wait by a member mask that leaves them out") {
  Device device(kernel_text(R"(
    mov.u32 %r2, %lanemask_lt;
    setp.ne.u32 %p1, %r2, 0;
    vote.sync.ballot.b32 %r1, %p1, %r2;
    bar.sync 0;)"));
  const DeviceError error = device.run("k", shape({1}, {2}), std::uint64_t{0});
  REQUIRE(error.code == DeviceErrorCode::kDeadlock);
  REQUIRE(error.message.find("(for lanes 0x00000001, by a member mask without its own lane, which "
                             "PTX does not define)") != std::string::npos);
}

TEST_CASE("a kernel that never ends is stopped after the launch timeout") {
  MachineOptions options;
  options.launch_timeout_ms = 50;
  Device device(kernel_text("AGAIN:\n  bra AGAIN;"), options);
  REQUIRE(device.run("k", shape({4}, {64}), std::uint64_t{0}).code == DeviceErrorCode::kTimeout);
}

TEST_CASE("a kernel that polls what nobody writes says at the timeout where its threads are") {
  MachineOptions options;
  options.launch_timeout_ms = 50;
  Device device(kernel_text(R"(
    setp.lt.u32 %p1, %thread, 16;
    @%p1 bra MEET;
POLL:
    ld.volatile.global.u32 %r1, [%base];
    setp.eq.u32 %p2, %r1, 0;
    @%p2 bra POLL;
MEET:
    bar.sync 3;)"),
                options);
  const DeviceError error =
      device.run("k", shape({1}, {32}), device.buffer(std::vector<std::uint64_t>(32, 0)));
  CAPTURE(error.message);
  REQUIRE(error.code == DeviceErrorCode::kTimeout);
  REQUIRE(
      error.message.starts_with("kernel k did not end within 50 ms; block (0,0,0) ran last and is "
                                "here; warp 0, lanes 0xffff"));
  // Who polls is named, and comes before who waits for it.
  REQUIRE(error.thread.x == 16);
  REQUIRE(error.ptx_line != 0);
  REQUIRE(error.function == "k");
  REQUIRE(error.message.find("lanes 0x0000ffff, at PTX line") != std::string::npos);
  REQUIRE(error.message.find("lanes 0xffff0000") < error.message.find("lanes 0x0000ffff"));
  REQUIRE(error.message.find("bar.sync 3") != std::string::npos);
  const std::size_t polls = error.message.find("lanes 0xffff0000, at PTX line");
  REQUIRE(polls != std::string::npos);
  const std::string place = error.message.substr(polls);
  REQUIRE((place.find("ld.volatile") != std::string::npos ||
           place.find("setp.eq") != std::string::npos ||
           place.find("bra POLL") != std::string::npos));
}

TEST_CASE(
    "trap, an unknown instruction and a wild call end the kernel, only when they are reached") {
  Device trap(kernel_text("  setp.eq.u32 %p1, %thread, 3;\n  @%p1 trap;"));
  trap.run_well("k", shape({1}, {3}), std::uint64_t{0});
  REQUIRE(trap.run("k", shape({1}, {4}), std::uint64_t{0}).code == DeviceErrorCode::kTrap);
  Device unknown(kernel_text(
      "  setp.ne.u32 %p1, %thread, 3;\n  @%p1 bra END;\n  frobnicate.u32 %r1, %r2;\nEND:"));
  unknown.run_well("k", shape({1}, {3}), std::uint64_t{0});
  const DeviceError error = unknown.run("k", shape({1}, {4}), std::uint64_t{0});
  REQUIRE(error.code == DeviceErrorCode::kIllegalInstruction);
  REQUIRE(error.message.find("frobnicate.u32 %r1, %r2") != std::string::npos);
  Device wild(kernel_text("  mov.u64 %d1, 64;\n  call %d1, (), p;\np: .callprototype _ ();"));
  REQUIRE(wild.run("k", shape({1}, {4}), std::uint64_t{0}).code == DeviceErrorCode::kInvalidPc);
}

TEST_CASE("endless recursion overflows the stack") {
  Device device(kernel_text("  call.uni again, ();", R"(
.func again()
{
  .local .align 8 .b8 depot[1024];
  call.uni again, ();
  ret;
}
)"));
  REQUIRE(device.run("k", shape({1}, {32}), std::uint64_t{0}).code ==
          DeviceErrorCode::kStackOverflow);
}

TEST_CASE("attributes say what a kernel needs") {
  Device device(
      kernel_text("  ld.shared.u32 %r1, [s+4];\n  ld.shared.u32 %r2, [dynamic];\n",
                  ".shared .align 4 .b8 s[100];\n.extern .shared .align 16 .b8 dynamic[];\n"
                  ".shared .align 4 .b8 unused[400];\n"));
  const LoadedKernel* kernel = Machine::find_kernel(device.module(), "k");
  REQUIRE(kernel != nullptr);
  const KernelAttributes attributes = Machine::attributes(*kernel);
  REQUIRE(attributes.static_shared_bytes == 112);
  REQUIRE(attributes.parameter_bytes == 8);
  REQUIRE(attributes.max_threads == 1024);
  REQUIRE(device.run("k", shape({1}, {1}), std::uint64_t{0}).code ==
          DeviceErrorCode::kIllegalAddress);
  device.run_well("k", shape({1}, {1}, 4), std::uint64_t{0});
}

// Code that is rewritten for stress, on the emulated device: each block and thread of the program
// runs once and knows its place, and blocks that are extra touch their scratch memory alone.
#include <string>
#include <vector>

#include "delaying_device.h"

namespace barracuda::wire::test {
namespace {

// Each thread adds 1 to its own word of out[block][thread], and tells the extents that it sees.
constexpr const char* kProgram = R"(
.version 7.8
.target sm_90
.address_size 64
.visible .entry place(.param .u64 out, .param .u64 extents)
{
  .reg .b32 %r<20>; .reg .b64 %rd<9>;
  ld.param.u64 %rd1, [out];
  ld.param.u64 %rd2, [extents];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ctaid.y;
  mov.u32 %r3, %ctaid.z;
  mov.u32 %r4, %nctaid.x;
  mov.u32 %r5, %nctaid.y;
  mad.lo.u32 %r6, %r3, %r5, %r2;
  mad.lo.u32 %r6, %r6, %r4, %r1;
  mov.u32 %r7, %tid.x;
  mov.u32 %r8, %tid.y;
  mov.u32 %r9, %ntid.x;
  mov.u32 %r10, %ntid.y;
  mad.lo.u32 %r11, %r8, %r9, %r7;
  mul.lo.u32 %r12, %r9, %r10;
  mad.lo.u32 %r6, %r6, %r12, %r11;
  mul.wide.u32 %rd3, %r6, 4;
  add.s64 %rd4, %rd1, %rd3;
  atom.global.add.u32 %r13, [%rd4], 1;
  mov.u32 %r14, %nctaid.z;
  st.global.u32 [%rd2], %r4;
  st.global.u32 [%rd2+4], %r5;
  st.global.u32 [%rd2+8], %r14;
  mov.u32 %r15, %nclusterid.x;
  st.global.u32 [%rd2+12], %r15;
  ret;
}
// Each block says which block of its cluster it is, and which cluster it is in.
.visible .entry clusters(.param .u64 out)
{
  .reg .b32 %r<9>; .reg .b64 %rd<9>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %clusterid.x;
  mov.u32 %r3, %cluster_ctaid.x;
  mul.lo.u32 %r4, %r2, 100;
  add.u32 %r4, %r4, %r3;
  add.u32 %r4, %r4, 1;
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd4, %rd1, %rd3;
  atom.global.add.u32 %r5, [%rd4], %r4;
  ret;
}
)";

constexpr std::uint32_t kGuard = 64;  // words around the scratch memory

DelayingDevice device_of(std::uint64_t seed) {
  return {kProgram, {.seed = seed, .rewriting = {.is_stressed = true, .permutes_warps = true}}};
}

void set_grid(StressedLaunch& launch, const emulator::Dim3& grid, const emulator::Dim3& cluster) {
  launch.grid[0] = grid.x, launch.grid[1] = grid.y, launch.grid[2] = grid.z;
  launch.cluster[0] = cluster.x, launch.cluster[1] = cluster.y, launch.cluster[2] = cluster.z;
}

}  // namespace

TEST_CASE("stressed: every block and thread runs once and sees the program's grid") {
  const auto kind = GENERATE(stress::StressKind::kRandom, stress::StressKind::kSystematic,
                             stress::StressKind::kCache);
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    DelayingDevice device = device_of(seed);
    CHECK(device.facts("place").resizes_grid);
    CHECK(device.facts("place").warps_together == 1);
    const emulator::Dim3 grid{3, 4, 2};
    StressedLaunch& launch = device.stressed();
    set_grid(launch, grid, {1, 1, 1});
    launch.clusters = {.window = 16, .factor = 37, .turn = 7};
    launch.warps = {.window = 32, .factor = 41, .turn = 2};
    launch.warps_together = 1;
    launch.extra = 2 * 3 * 2;  // two slices of y
    launch.phase = 5;
    launch.looks = 2;
    launch.stress = {.kind = kind, .words = 256, .threads = 70};
    const std::uint64_t scratch = device.allocate((launch.stress.words + 2 * kGuard) * 4);
    launch.scratch = scratch + kGuard * 4;
    const std::uint32_t threads = 33 * 3;  // three whole warps and a part of one
    const std::uint64_t out = device.allocate(std::uint64_t{24} * threads * 4 + 64);
    const std::uint64_t extents = device.allocate(16);
    emulator::LaunchConfig config;
    config.grid = {3, 6, 2};
    config.block = {33, 3, 1};
    const auto error = device.try_launch("place", config, {out, extents});
    INFO(error.message);
    REQUIRE(error.code == emulator::DeviceErrorCode::kNone);
    const auto* const counts = DelayingDevice::at<const std::uint32_t>(out);
    CHECK(std::vector(counts, counts + 24 * threads) == std::vector(24 * threads, 1U));
    CHECK(counts[24 * threads] == 0);
    const auto* const seen = DelayingDevice::at<const std::uint32_t>(extents);
    CHECK(std::vector(seen, seen + 4) == std::vector{3U, 4U, 2U, 3U});
    const auto* const words = DelayingDevice::at<const std::uint32_t>(scratch);
    CHECK(std::vector(words, words + kGuard) == std::vector(kGuard, 0U));
    const auto* const behind = words + kGuard + launch.stress.words;
    CHECK(std::vector(behind, behind + kGuard) == std::vector(kGuard, 0U));
    std::uint32_t disturbed = 0;
    for (std::uint32_t i = 0; i < launch.stress.words; ++i) {
      disturbed += words[kGuard + i] != 0 ? 1 : 0;
    }
    CHECK(disturbed != 0);
  }
}

TEST_CASE("stressed: clusters change places as a whole") {
  DelayingDevice device = device_of(1);
  StressedLaunch& launch = device.stressed();
  set_grid(launch, {12, 1, 1}, {2, 1, 1});
  launch.clusters = {.window = 4, .factor = 37, .turn = 1};
  launch.extra = 2;
  launch.phase = 3;
  const std::uint64_t out = device.allocate(64);
  device.launch("clusters", 16, 32, {out}, 2);
  const auto* const seen = DelayingDevice::at<const std::uint32_t>(out);
  for (std::uint32_t block = 0; block < 12; ++block) {
    CHECK(seen[block] == 32 * (block / 2 * 100 + block % 2 + 1));
  }
  CHECK(std::vector(seen + 12, seen + 16) == std::vector(4, 0U));
}

TEST_CASE("stressed: without a place of its own a launch is as the device has it") {
  DelayingDevice device = device_of(1);
  set_grid(device.stressed(), {12, 1, 1}, {2, 1, 1});
  const std::uint64_t out = device.allocate(64);
  device.launch("clusters", 12, 1, {out}, 2);
  const auto* const seen = DelayingDevice::at<const std::uint32_t>(out);
  for (std::uint32_t block = 0; block < 12; ++block) {
    CHECK(seen[block] == block / 2 * 100 + block % 2 + 1);
  }
}

}  // namespace barracuda::wire::test

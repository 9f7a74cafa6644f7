// Which warps a wait for products of a warpgroup is for.
#include <bit>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "tests/unit/emulator/device.h"

using namespace barracuda::emulator;  // NOLINT(google-build-using-namespace)
using test::Device;
using test::shape;

namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr u32 kThreads = 128;

// Sixteen times one times one in each sum. `late`: what the last warp does before its product;
// behind the wait the other warps put zeros into B.
std::string refilling_text(std::string_view late) {
  return fmt::format(R"(.version 8.0
.target sm_90a
.address_size 64
.shared .align 128 .b8 tiles[2560];
.visible .entry k(.param .u64 out)
{{
  .reg .pred %p<4>; .reg .b32 %r<8>, %x<4>, %t0; .reg .b64 %d<6>;
  ld.param.u64 %d1, [out];
  mov.u32 %t0, %tid.x;
  mul.wide.u32 %d2, %t0, 4;
  add.u64 %d1, %d1, %d2;
  mov.u32 %r1, tiles;
  cvt.u32.u64 %r2, %d2;
  add.u32 %r2, %r1, %r2;
  mov.u32 %r3, 0x3C003C00;
  st.shared.b32 [%r2], %r3;
  st.shared.b32 [%r2+512], %r3;
  st.shared.b32 [%r2+1024], %r3;
  st.shared.b32 [%r2+1536], %r3;
  st.shared.b32 [%r2+2048], %r3;
  fence.proxy.async;
  bar.sync 0;
  shr.u32 %r1, %r1, 4;
  cvt.u64.u32 %d3, %r1;
  add.u64 %d3, %d3, 0x1000080000;
  add.u64 %d4, %d3, 128;
  mov.b32 %x0, 0;
  mov.b32 %x1, 0;
  mov.b32 %x2, 0;
  mov.b32 %x3, 0;
  mov.b32 %r4, 0;
  setp.lt.u32 %p1, %t0, 96;
  @%p1 bra PRODUCT;
{}
PRODUCT:
  wgmma.fence.sync.aligned;
  wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {{%x0, %x1, %x2, %x3}}, %d3, %d4, 1, 1, 1, 0, 0;
  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 0;
  mov.b32 %r5, 0;
  @%p1 st.shared.b32 [%r2+2048], %r5;
  st.global.b32 [%d1], %x0;
  ret;
}}
)",
                     late);
}

}  // namespace

TEST_CASE("who waits for a product waits for all warps of the warpgroup") {
  Device device(refilling_text(R"(
LATER:
  add.u32 %r4, %r4, 1;
  setp.lt.u32 %p2, %r4, 100000;
  @%p2 bra LATER;)"));
  const u64 out = device.buffer(std::vector<u32>(kThreads, 0));
  device.run_well("k", shape({1}, {kThreads}), out);
  CHECK(device.read<u32>(out, kThreads) == std::vector<u32>(kThreads, std::bit_cast<u32>(16.0F)));
}

TEST_CASE("a warpgroup of which a warp has gone goes on without it") {
  Device device(refilling_text("exit;"));
  const u64 out = device.buffer(std::vector<u32>(kThreads, 0));
  device.run_well("k", shape({1}, {kThreads}), out);
  CHECK(device.read<u32>(out, 1)[0] == std::bit_cast<u32>(16.0F));
}

TEST_CASE("a product that a warp of the warpgroup never issues is a deadlock") {
  for (const bool is_seeded : {false, true}) {
    MachineOptions options;
    options.launch_timeout_ms = 20000;
    if (is_seeded) {
      options.seed = 5;
    }
    Device device(refilling_text("bar.sync 0;"), options);
    const DeviceError error =
        device.run("k", shape({1}, {kThreads}), device.buffer(std::vector<u32>(kThreads, 0)));
    INFO(error.message);
    CHECK(error.code == DeviceErrorCode::kDeadlock);
    CHECK(error.message.find("wgmma.wait_group") != std::string::npos);
  }
}

// tensormap.replace and tensormap.cp_fenceproxy: what is left of a map.
#include <cstring>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "emulator/execute/tensor_map.h"
#include "emulator/tensor_map_image.h"
#include "tests/unit/emulator/device.h"

using namespace barracuda::emulator;  // NOLINT(google-build-using-namespace)
using barracuda::TensorElement;
using barracuda::TensorMap;
using barracuda::TensorSwizzle;
using test::Device;
using test::kernel_text;
using test::shape;

namespace {

TensorMap plain_map() {
  TensorMap map;
  map.address = 1 << 20;
  map.rank = 3;
  map.element = TensorElement::kU32;
  map.last = {63, 63, 7, 0, 0};
  map.strides = {256, 16384, 0, 0};
  map.box = {8, 8, 1, 1, 1};
  map.steps = {1, 1, 1, 1, 1};
  return map;
}

std::vector<TensorMap> g_changed;

void note(const void* bytes, const TensorMap& map) {
  CHECK(read_tensor_map(bytes).map == map);
  g_changed.push_back(map);
}

struct Result {
  DeviceError error;
  TensorMapImage image;
};

// The body finds the map at %out, and 128 bytes of shared memory, "copy".
Result run(const std::string& body, const TensorMapImage& image) {
  Device device(kernel_text(body, ".shared .align 128 .b8 copy[128];\n"));
  std::vector<std::uint32_t> words(2 * kTensorMapBytes / 4);
  std::memcpy(words.data(), static_cast<const void*>(&image), sizeof image);
  const std::uint64_t out = device.buffer(words);
  g_changed.clear();
  set_tensor_map_handler(note);
  Result result;
  result.error = device.run("k", shape({1}, {1}), out);
  set_tensor_map_handler(nullptr);
  const auto left = device.read<std::uint32_t>(out, words.size());
  std::memcpy(static_cast<void*>(&result.image), left.data(), sizeof result.image);
  return result;
}

TensorMap changed(const std::string& fields) {
  TensorMapImage image;
  image.map = plain_map();
  const Result result = run(fields, image);
  INFO(result.error.message);
  REQUIRE(result.error.code == DeviceErrorCode::kNone);
  return result.image.map;
}

bool is_refused(const std::string& change, const TensorMapImage& image) {
  return run(change, image).error.code == DeviceErrorCode::kIllegalInstruction;
}

}  // namespace

TEST_CASE("each field of a map may be replaced") {
  const TensorMap map = changed(R"(
    mov.u64 %d1, 4096;
    tensormap.replace.tile.global_address.global.b1024.b64 [%out], %d1;
    tensormap.replace.tile.rank.global.b1024.b32 [%out], 1;
    mov.u32 %r1, 16;
    tensormap.replace.tile.box_dim.global.b1024.b32 [%out], 1, %r1;
    tensormap.replace.tile.global_dim.global.b1024.b32 [%out], 0, 128;
    tensormap.replace.tile.global_stride.global.b1024.b64 [%out], 0, 512;
    tensormap.replace.tile.element_stride.global.b1024.b32 [%out], 1, 2;
    tensormap.replace.tile.elemtype.global.b1024.b32 [%out], 6;
    tensormap.replace.tile.swizzle_mode.b1024.b32 [%out], 1;
    tensormap.replace.tile.fill_mode.global.b1024.b32 [%out], 1;
    tensormap.replace.tile.interleave_layout.global.b1024.b32 [%out], 0;)");
  TensorMap wanted = plain_map();
  wanted.address = 4096;
  wanted.rank = 2;
  wanted.box[1] = 16;
  wanted.last[0] = 127;
  wanted.strides[0] = 512;
  wanted.steps[1] = 2;
  wanted.element = TensorElement::kF16;
  wanted.swizzle = TensorSwizzle::k32Bytes;
  wanted.fills_with_nan = true;
  CHECK(map == wanted);
  REQUIRE_FALSE(g_changed.empty());
  CHECK(g_changed.front().address == 4096);
}

TEST_CASE("the types of a map have numbers of their own") {
  CHECK(changed("tensormap.replace.tile.elemtype.global.b1024.b32 [%out], 9;").element ==
        TensorElement::kF64);
  CHECK(changed("tensormap.replace.tile.elemtype.global.b1024.b32 [%out], 10;").element ==
        TensorElement::kBf16);
}

TEST_CASE("what is no map, and maps that the device does not have, are refused") {
  TensorMapImage image;
  image.map = plain_map();
  CHECK(is_refused("tensormap.replace.tile.elemtype.global.b1024.b32 [%out], 8;", image));
  CHECK(is_refused("tensormap.replace.tile.elemtype.global.b1024.b32 [%out], 12;", image));
  CHECK(is_refused("tensormap.replace.tile.interleave_layout.global.b1024.b32 [%out], 1;", image));
  CHECK(is_refused("tensormap.replace.tile.rank.global.b1024.b32 [%out], 5;", image));
  image.magic = 0;
  CHECK(is_refused("tensormap.replace.tile.rank.global.b1024.b32 [%out], 1;", image));
}

TEST_CASE("a map is changed in shared memory and copied back") {
  const TensorMap map = changed(R"(
    mov.u32 %r1, copy;
    mov.u32 %r2, 0;
COPY:
    cvt.u64.u32 %d1, %r2;
    add.u64 %d1, %d1, %out;
    ld.global.u32 %r3, [%d1];
    add.u32 %r4, %r1, %r2;
    st.shared.u32 [%r4], %r3;
    add.u32 %r2, %r2, 4;
    setp.lt.u32 %p1, %r2, 128;
    @%p1 bra COPY;
    tensormap.replace.tile.global_address.shared::cta.b1024.b64 [copy], 8192;
    tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%out], [%r1], 128;
    fence.proxy.tensormap::generic.acquire.gpu [%out], 128;)");
  CHECK(map.address == 8192);
  CHECK(map.last == plain_map().last);
}

// Textures and surfaces: which texels are read, and what is made of them.
#include "emulator/texture.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tests/unit/emulator/device.h"

using namespace barracuda::emulator;  // NOLINT(google-build-using-namespace)
using test::Device;
using test::kernel_text;
using test::shape;

namespace {

// The kernel gets an array of 64-bit words: the handle, and behind it the coordinates of each
// thread, four words of 32 bits, from byte 16 on; it stores four words of 32 bits over them.
std::string fetch_text(const std::string& fetch) {
  return kernel_text(R"(
  mul.wide.u32 %d1, %thread, 16;
  add.u64 %d1, %base, %d1;
  ld.global.u64 %d2, [%base];
  ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%d1+16];
  mov.b32 %f1, %r1;
  mov.b32 %f2, %r2;
  mov.b32 %f3, %r3;
)" + fetch + R"(
  st.global.v4.b32 [%d1+16], {%r11, %r12, %r13, %r14};
)");
}

constexpr std::string_view kFloatsToWords =
    "mov.b32 %r11, %f11; mov.b32 %r12, %f12; mov.b32 %r13, %f13; mov.b32 %r14, %f14;";

std::string floats(const std::string& fetch) {
  return fetch_text(fetch + "\n" + std::string(kFloatsToWords));
}

using Words = std::array<std::uint32_t, 4>;

Words words(float x, float y = 0, float z = 0) {
  return {std::bit_cast<std::uint32_t>(x), std::bit_cast<std::uint32_t>(y),
          std::bit_cast<std::uint32_t>(z), 0};
}

class Fetcher {
 public:
  explicit Fetcher(const std::string& text) : device_(text) {}

  template <class T>
  TextureView view(const std::vector<T>& texels, std::uint32_t width, std::uint32_t height = 1,
                   std::uint32_t depth = 1) {
    TextureView made;
    made.address = device_.buffer(texels);
    made.width = width;
    made.height = height;
    made.depth = depth;
    made.channels = static_cast<std::uint8_t>(texels.size() / width / height / depth);
    made.channel_bytes = sizeof(T);
    made.kind = std::is_same_v<T, float> ? TexelKind::kFloat
                : std::is_signed_v<T>    ? TexelKind::kSigned
                                         : TexelKind::kUnsigned;
    made.row_bytes = std::uint64_t{width} * made.texel_bytes();
    made.slice_bytes = made.row_bytes * height;
    made.dimensions = depth > 1 ? 3 : height > 1 ? 2 : 1;
    return made;
  }

  DeviceError run(const TextureView& view, std::vector<Words>& lanes) {
    std::vector<std::uint32_t> memory(4 + 4 * lanes.size());
    const std::uint64_t handle = device_.machine().textures().add(view);
    std::memcpy(memory.data(), &handle, sizeof handle);
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      std::memcpy(&memory[4 + 4 * i], lanes[i].data(), sizeof lanes[i]);
    }
    const std::uint64_t at = device_.buffer(memory);
    const DeviceError error =
        device_.run("k", shape({1}, {static_cast<std::uint32_t>(lanes.size())}), at);
    memory = device_.read<std::uint32_t>(at, memory.size());
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      std::memcpy(lanes[i].data(), &memory[4 + 4 * i], sizeof lanes[i]);
    }
    return error;
  }

  // Of the first channel.
  std::vector<float> values(const TextureView& view, std::vector<Words> lanes) {
    const DeviceError error = run(view, lanes);
    INFO(error.message);
    REQUIRE(error.code == DeviceErrorCode::kNone);
    std::vector<float> first;
    for (const Words& lane : lanes) {
      first.push_back(std::bit_cast<float>(lane[0]));
    }
    return first;
  }

  Device& device() { return device_; }

 private:
  Device device_;
};

const std::string kPoint2d =
    floats("tex.2d.v4.f32.f32 {%f11, %f12, %f13, %f14}, [%d2, {%f1, %f2}];");

}  // namespace

TEST_CASE("linear memory is read by number, and zeros beyond it") {
  Fetcher fetcher(floats("tex.1d.v4.f32.s32 {%f11, %f12, %f13, %f14}, [%d2, {%r1}];"));
  TextureView view = fetcher.view(std::vector<float>{1, 2, 3, 4}, 4);
  view.is_linear = true;
  CHECK(fetcher.values(view, {{0}, {3}, {4}, {~0U}}) == std::vector<float>{1, 4, 0, 0});
}

TEST_CASE("integers come with their sign, and as many channels as there are") {
  Fetcher fetcher(fetch_text("tex.1d.v4.u32.s32 {%r11, %r12, %r13, %r14}, [%d2, {%r1}];"));
  TextureView view = fetcher.view(std::vector<std::int16_t>{1, -2, 300, -32768}, 2);
  view.is_linear = true;
  std::vector<Words> lanes{{0}, {1}};
  REQUIRE(fetcher.run(view, lanes).code == DeviceErrorCode::kNone);
  CHECK(lanes[0] == Words{1, static_cast<std::uint32_t>(-2), 0, 1});
  CHECK(lanes[1] == Words{300, static_cast<std::uint32_t>(-32768), 0, 1});
}

TEST_CASE("a point is the texel that its coordinates lie in") {
  Fetcher fetcher(kPoint2d);
  const TextureView view = fetcher.view(std::vector<float>{0, 1, 2, 10, 11, 12}, 3, 2);
  CHECK(fetcher.values(view, {words(0.9F, 0), words(2, 1.5F), words(1.5F, 0.5F)}) ==
        std::vector<float>{0, 12, 1});
}

TEST_CASE("beyond the edges the address mode says what is read") {
  Fetcher fetcher(floats("tex.1d.v4.f32.f32 {%f11, %f12, %f13, %f14}, [%d2, {%f1}];"));
  TextureView view = fetcher.view(std::vector<float>{10, 11, 12, 13}, 4);
  view.is_normalised = true;
  const std::vector<Words> at = {words(-0.3F), words(0.1F), words(1.1F), words(2.9F)};
  const auto of = [&](AddressMode mode) {
    view.modes.fill(mode);
    return fetcher.values(view, at);
  };
  CHECK(of(AddressMode::kWrap) == std::vector<float>{12, 10, 10, 13});
  CHECK(of(AddressMode::kClamp) == std::vector<float>{10, 10, 13, 13});
  CHECK(of(AddressMode::kMirror) == std::vector<float>{11, 10, 13, 13});
  view.border = {7, 0, 0, 0};
  CHECK(of(AddressMode::kBorder) == std::vector<float>{7, 10, 7, 7});
  view.is_normalised = false;  // only those two are for such coordinates
  view.modes.fill(AddressMode::kWrap);
  CHECK(fetcher.values(view, {words(-1), words(5)}) == std::vector<float>{10, 13});
}

TEST_CASE("what lies between texels is interpolated, with weights of 8 bits") {
  Fetcher fetcher(kPoint2d);
  TextureView view = fetcher.view(std::vector<float>{0, 4, 8, 12}, 2, 2);
  view.interpolates = true;
  view.modes.fill(AddressMode::kClamp);
  CHECK(fetcher.values(view, {words(1, 1), words(0.5F, 0.5F), words(0.75F, 0.5F), words(0, 1),
                              words(0.5F + 1.0F / 1024, 0.5F)}) ==
        std::vector<float>{6, 0, 1, 4, 0});
  view.modes.fill(AddressMode::kBorder);
  CHECK(fetcher.values(view, {words(0, 0.5F)}) == std::vector<float>{0});
  CHECK(fetcher.values(view, {words(2, 0.5F)}) == std::vector<float>{2});
}

TEST_CASE("a third dimension, and its interpolation") {
  Fetcher fetcher(
      floats("tex.3d.v4.f32.f32 {%f11, %f12, %f13, %f14}, [%d2, {%f1, %f2, %f3, %f3}];"));
  TextureView view = fetcher.view(std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7}, 2, 2, 2);
  view.modes.fill(AddressMode::kClamp);
  CHECK(fetcher.values(view, {words(1, 0, 1), words(0, 1, 0)}) == std::vector<float>{5, 2});
  view.interpolates = true;
  CHECK(fetcher.values(view, {words(1, 1, 1), words(0.5F, 0.5F, 1)}) ==
        std::vector<float>{3.5F, 2});
}

TEST_CASE("a layer is one of those that there are") {
  Fetcher fetcher(
      floats("tex.a2d.v4.f32.f32 {%f11, %f12, %f13, %f14}, [%d2, {%r4, %f1, %f2, %f2}];"));
  TextureView view = fetcher.view(std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7}, 2, 2, 2);
  view.dimensions = 2;
  view.is_layered = true;
  view.modes.fill(AddressMode::kClamp);
  Words second = words(1, 1);
  second[3] = 1;
  Words beyond = words(0, 0);
  beyond[3] = 9;
  CHECK(fetcher.values(view, {words(1, 1), second, beyond}) == std::vector<float>{3, 7, 4});
}

TEST_CASE("a level of detail is the only one that there is") {
  Fetcher fetcher(
      floats("tex.level.2d.v4.f32.f32 {%f11, %f12, %f13, %f14}, [%d2, {%f1, %f2}], %f3;"));
  const TextureView view = fetcher.view(std::vector<float>{0, 1, 2, 3}, 2, 2);
  CHECK(fetcher.values(view, {words(1, 1, 5)}) == std::vector<float>{3});
}

TEST_CASE("integers as fractions") {
  Fetcher fetcher(kPoint2d);
  TextureView view = fetcher.view(std::vector<std::uint8_t>{0, 51, 255, 128}, 2, 2);
  view.makes_fractions = true;
  CHECK(fetcher.values(view, {words(0, 0), words(1, 0), words(0, 1)}) ==
        std::vector<float>{0, 51.0F / 255, 1});
  TextureView of_signed = fetcher.view(std::vector<std::int8_t>{-128, 127, -127, 0}, 2, 2);
  of_signed.makes_fractions = true;
  CHECK(fetcher.values(of_signed, {words(0, 0), words(1, 0), words(0, 1)}) ==
        std::vector<float>{-1, 1, -1});
}

TEST_CASE("four channels of a byte, and halves") {
  Fetcher fetcher(fetch_text("tex.2d.v4.u32.f32 {%r11, %r12, %r13, %r14}, [%d2, {%f1, %f2}];"));
  const TextureView view = fetcher.view(
      std::vector<std::uint8_t>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}, 2, 2);
  std::vector<Words> lanes{words(1, 1)};
  REQUIRE(fetcher.run(view, lanes).code == DeviceErrorCode::kNone);
  CHECK(lanes[0] == Words{13, 14, 15, 16});
  Fetcher of_halves(kPoint2d);
  TextureView halves = of_halves.view(std::vector<std::uint16_t>{0x3C00, 0xC000, 0, 0x3800}, 2, 2);
  halves.kind = TexelKind::kFloat;
  CHECK(of_halves.values(halves, {words(0, 0), words(1, 0), words(1, 1)}) ==
        std::vector<float>{1, -2, 0.5F});
}

TEST_CASE("four texels are gathered from the lower left on") {
  Fetcher fetcher(floats("tld4.g.2d.v4.f32.f32 {%f11, %f12, %f13, %f14}, [%d2, {%f1, %f2}];"));
  TextureView view = fetcher.view(std::vector<float>{0, 10, 0, 11, 0, 12, 0, 13}, 2, 2);
  view.modes.fill(AddressMode::kClamp);
  std::vector<Words> lanes{words(1, 1)};
  REQUIRE(fetcher.run(view, lanes).code == DeviceErrorCode::kNone);
  CHECK(lanes[0] == Words{words(12)[0], words(13)[0], words(11)[0], words(10)[0]});
}

TEST_CASE("surfaces are read and written by bytes") {
  Fetcher fetcher(fetch_text(R"(
  suld.b.2d.b32.trap {%r11}, [%d2, {%r1, %r2}];
  add.u32 %r12, %r11, 1;
  sust.b.2d.b32.trap [%d2, {%r1, %r2}], {%r12};
  mov.b32 %r13, 0;
  mov.b32 %r14, 0;)"));
  TextureView view = fetcher.view(std::vector<std::uint32_t>{5, 6, 7, 8}, 2, 2);
  view.is_surface = true;
  std::vector<Words> lanes{{4, 0}, {0, 1}};
  REQUIRE(fetcher.run(view, lanes).code == DeviceErrorCode::kNone);
  CHECK(lanes[0][0] == 6);
  CHECK(fetcher.device().read<std::uint32_t>(view.address, 4) ==
        std::vector<std::uint32_t>{5, 7, 8, 8});
  std::vector<Words> outside{{8, 0}};
  const DeviceError trapped = fetcher.run(view, outside);
  CHECK(trapped.code == DeviceErrorCode::kIllegalAddress);
  CHECK(trapped.what.find("out-of-bounds surface read of 4 bytes at byte 8, row 0") !=
        std::string::npos);
  std::vector<Words> between{{2, 0}};
  CHECK(fetcher.run(view, between).code == DeviceErrorCode::kMisalignedAddress);
}

TEST_CASE("vectors, layers and other edges of surfaces") {
  struct Form {
    const char* text;
    std::uint8_t dimensions;
    bool is_layered;
  };

  for (const Form& form :
       {Form{"sust.b.2d.v4.b8.trap [%d2, {%r1, %r2}], {%h1, %h2, %h3, %h4};", 2, false},
        Form{"sust.b.3d.b8.trap [%d2, {%r1, %r2, %r3, %r3}], {%h1};", 3, false},
        Form{"sust.b.1d.v4.b32.trap [%d2, {%r1}], {%r5, %r6, %r7, %r8};", 1, false},
        Form{"sust.b.a2d.v4.b32.trap [%d2, {%r4, %r1, %r2, %r2}], {%r5, %r6, %r7, %r8};", 2, true},
        Form{"sust.b.1d.b32.trap [%d2, {%r1}], {%r5};", 1, false},
        Form{"sust.b.3d.v4.b32.clamp [%d2, {%r1, %r2, %r3, %r3}], {%r5, %r6, %r7, %r8};", 3,
             false}}) {
    CAPTURE(form.text);
    Fetcher fetcher(fetch_text(R"(
  mov.b16 %h1, 1; mov.b16 %h2, 2; mov.b16 %h3, 3; mov.b16 %h4, 4;
  mov.b32 %r5, 0x04030201; mov.b32 %r6, 0x08070605; mov.b32 %r7, 0x0C0B0A09; mov.b32 %r8, 0;
  mov.b32 %r11, 0; mov.b32 %r12, 0; mov.b32 %r13, 0; mov.b32 %r14, 0;
)" + std::string(form.text)));
    TextureView view = fetcher.view(std::vector<std::uint8_t>(128), 8, 2, 2);
    view.channels = 4;
    view.is_surface = true;
    view.dimensions = form.dimensions;
    view.is_layered = form.is_layered;
    const bool is_clamped = std::string_view(form.text).find("clamp") != std::string_view::npos;
    // The second texel, row and slice of those that it names; a clamped one far beyond.
    std::vector<Words> lanes{is_clamped
                                 ? Words{640, 7, 9, 7}
                                 : Words{16, form.dimensions > 1 ? 1U : 0U,
                                         form.dimensions > 2 ? 1U : 0U, form.is_layered ? 1U : 0U}};
    const Words at = lanes[0];
    const DeviceError error = fetcher.run(view, lanes);
    INFO(error.message);
    REQUIRE(error.code == DeviceErrorCode::kNone);
    const std::size_t place =
        is_clamped ? 112 : at[0] + at[1] * 32 + std::size_t{form.is_layered ? at[3] : at[2]} * 64;
    const auto bytes = fetcher.device().read<std::uint8_t>(view.address, 128);
    CHECK(bytes[place] == 1);
    CHECK(std::ranges::count(bytes, std::uint8_t{1}) == 1);
  }
}

TEST_CASE("what a zero edge reads is zero, and what it is given is dropped") {
  Fetcher fetcher(fetch_text(R"(
  mov.b32 %r12, 9;
  sust.b.2d.b32.zero [%d2, {%r1, %r2}], {%r12};
  suld.b.2d.b32.zero {%r11}, [%d2, {%r1, %r2}];
  mov.b32 %r13, 0;
  mov.b32 %r14, 0;)"));
  TextureView view = fetcher.view(std::vector<std::uint32_t>{5, 6, 7, 8}, 2, 2);
  view.is_surface = true;
  std::vector<Words> lanes{{8, 0}, {0, ~0U}, {4, 1}};
  REQUIRE(fetcher.run(view, lanes).code == DeviceErrorCode::kNone);
  CHECK(lanes[0][0] == 0);
  CHECK(lanes[1][0] == 0);
  CHECK(lanes[2][0] == 9);
  CHECK(fetcher.device().read<std::uint32_t>(view.address, 4) ==
        std::vector<std::uint32_t>{5, 6, 7, 9});
}

TEST_CASE("an object is asked for its size") {
  Fetcher fetcher(fetch_text(R"(
  txq.width.b32 %r11, [%d2];
  txq.height.b32 %r12, [%d2];
  suq.depth.b32 %r13, [%d2];
  txq.normalized_coords.b32 %r14, [%d2];)"));
  TextureView view = fetcher.view(std::vector<float>(24), 4, 3, 2);
  view.is_normalised = true;
  std::vector<Words> lanes{{}};
  REQUIRE(fetcher.run(view, lanes).code == DeviceErrorCode::kNone);
  CHECK(lanes[0] == Words{4, 3, 2, 1});
}

TEST_CASE("what is no object of its kind ends the kernel, and so does freed memory") {
  Fetcher fetcher(kPoint2d);
  TextureView view = fetcher.view(std::vector<float>{0, 1, 2, 3}, 2, 2);
  std::vector<Words> lanes{words(0, 0)};
  TextureView of_another = view;
  of_another.dimensions = 1;
  CHECK(fetcher.run(of_another, lanes).what.find("another kind or number of dimensions") !=
        std::string::npos);
  of_another = view;
  of_another.is_surface = true;
  CHECK(fetcher.run(of_another, lanes).code == DeviceErrorCode::kIllegalInstruction);
  const TextureView large = fetcher.view(std::vector<float>(64 * 64), 64, 64);
  REQUIRE(fetcher.device().machine().memory().release(large.address));
  CHECK(fetcher.run(large, lanes).code == DeviceErrorCode::kIllegalAddress);
  const std::uint64_t none =
      fetcher.device().buffer(std::vector<std::uint64_t>{0xBAD, 0, 0, 0, 0, 0});
  CHECK(fetcher.device().run("k", shape({1}, {1}), none).what.find("0xbad, which is no texture") !=
        std::string::npos);
}

TEST_CASE("what is not understood is refused, and named") {
  for (const char* const text :
       {"tex.cube.v4.f32.f32 {%f11, %f12, %f13, %f14}, [%d2, {%f1, %f2, %f3, %f3}];",
        "tex.2d.v2.f16x2.f32 {%r11, %r12}, [%d2, {%f1, %f2}];",
        "tex.2d.v4.f32.f32 {%f11, %f12, %f13, %f14}, [%d2, {%f1, %f2}], {%r1, %r2};",
        "sust.p.2d.b32.trap [%d2, {%r1, %r2}], {%r11};",
        "sured.b.add.2d.u32.trap [%d2, {%r1, %r2}], %r11;", "txq.channel_order.b32 %r11, [%d2];"}) {
    CAPTURE(text);
    Device device(kernel_text(text));
    const auto refusals = Machine::refusals(*Machine::find_kernel(device.module(), "k"));
    REQUIRE(refusals.size() == 1);
    CHECK(std::string(text).starts_with(refusals[0].text.substr(0, 8)));
    CHECK_FALSE(refusals[0].reason.empty());
  }
}

TEST_CASE("a form comes through a hook's word as it was") {
  const TexelForm form{.use = TexelUse::kStore,
                       .dimensions = 3,
                       .is_layered = true,
                       .by_number = true,
                       .channel = 2,
                       .bytes = 16,
                       .outside = Outside::kIsZero};
  CHECK(TexelForm::unpacked(form.packed()) == form);
}

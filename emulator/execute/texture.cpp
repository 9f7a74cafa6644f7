#include "emulator/execute/texture.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "emulator/execute/lanes/lanes.h"
#include "emulator/execute/weak_order.h"
#include "emulator/state/host_address.h"
#include "emulator/state/launch.h"

namespace barracuda::emulator {

using baseline::source;

namespace {

using Words = std::array<std::uint32_t, 4>;  // of the channels

// What a fetch gives for channels that a texel does not have.
constexpr Words kNoChannels = {0, 0, 0, 1};

std::uint32_t bits_of(float value) {
  return std::bit_cast<std::uint32_t>(value);
}

bool gives_floats(const TextureView& view) {
  return view.kind == TexelKind::kFloat || view.makes_fractions;
}

std::uint32_t read_channel(const TextureView& view, const std::byte* from) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, from, view.channel_bytes);
  const unsigned width = 8U * view.channel_bytes;
  const auto extended = static_cast<std::int32_t>(bits << (32 - width)) >> (32 - width);
  if (view.kind == TexelKind::kFloat) {
    return width == 32 ? bits
                       : bits_of(static_cast<float>(
                             std::bit_cast<_Float16>(static_cast<std::uint16_t>(bits))));
  }
  if (!view.makes_fractions) {
    return view.kind == TexelKind::kSigned ? static_cast<std::uint32_t>(extended) : bits;
  }
  if (view.kind == TexelKind::kSigned) {
    const auto most = static_cast<float>((std::uint32_t{1} << (width - 1)) - 1);
    return bits_of(std::max(static_cast<float>(extended) / most, -1.0F));
  }
  return bits_of(static_cast<float>(bits) / static_cast<float>((std::uint64_t{1} << width) - 1));
}

Words read_texel(const TextureView& view, std::uint64_t address) {
  Words words = kNoChannels;
  words[3] = gives_floats(view) ? bits_of(1) : 1;
  for (std::uint32_t i = 0; i < view.channels; ++i) {
    if (address == Texels::kNone) {
      words.at(i) = bits_of(view.border.at(i));  // of an integer where the texture gives those
    } else {
      words.at(i) = read_channel(view, host_address<std::byte>(address) + i * view.channel_bytes);
    }
  }
  return words;
}

Words gathered(const TextureView& view, const TexelForm& form, const Texels& texels) {
  constexpr std::array<std::size_t, 4> kOrder = {2, 3, 1, 0};  // from the lower left on
  Words words{};
  for (std::size_t i = 0; i < words.size(); ++i) {
    words.at(i) = read_texel(view, texels.addresses.at(kOrder.at(i))).at(form.channel);
  }
  return words;
}

Words fetched(const TextureView& view, const Texels& texels) {
  if (texels.count == 1) {
    return read_texel(view, texels.addresses[0]);
  }
  std::array<float, 4> sums{};
  for (std::uint32_t corner = 0; corner < texels.count; ++corner) {
    const Words words = read_texel(view, texels.addresses.at(corner));
    for (std::size_t i = 0; i < sums.size(); ++i) {
      sums.at(i) += texels.weights.at(corner) * std::bit_cast<float>(words.at(i));
    }
  }
  Words words{};
  std::ranges::transform(sums, words.begin(), bits_of);
  return words;
}

template <class T>
T* place_of(const Context& c, Slot slot) {
  return const_cast<T*>(source<T>(c, slot));
}

// The texels of one warp's instruction, lane by lane.
class TexelWork {
 public:
  TexelWork(Context& context, const Instruction& instruction)
      : c_(context),
        in_(instruction),
        operands_(*static_cast<const TexelOperands*>(instruction.extra)) {}

  // False: the launch has failed.
  bool run(int lane) {
    const std::uint64_t handle = source<std::uint64_t>(c_, operands_.object)[lane];
    if (!view_ || handle != handle_) {
      if (!find(handle, lane)) {
        return false;
      }
    }
    const Texels texels = texels_at(*view_, operands_.form, coordinates_of(lane));
    if (texels.is_trapped) {
      return trap(texels, lane);
    }
    if (c_.weak != nullptr) {
      settle(texels, lane);
    }
    if (operands_.form.is_of_surface()) {
      move(texels.addresses[0], lane);
    } else {
      write(operands_.form.use == TexelUse::kGather ? gathered(*view_, operands_.form, texels)
                                                    : fetched(*view_, texels),
            lane);
    }
    return true;
  }

 private:
  bool find(std::uint64_t handle, int lane) {
    view_ = c_.launch->textures.find(handle);
    handle_ = handle;
    const char* const what = operands_.form.is_of_surface() ? "surface" : "texture";
    if (view_ == nullptr || !fits(*view_, operands_.form)) {
      return refuse(DeviceErrorCode::kIllegalInstruction, lane,
                    view_ == nullptr
                        ? fmt::format("{:#x}, which is no {} object", handle, what)
                        : fmt::format("a {} of another kind or number of dimensions", what));
    }
    const auto memory = c_.launch->memory.find(view_->address);
    if (!memory || view_->bytes() > memory->address + memory->bytes - view_->address) {
      return refuse(DeviceErrorCode::kIllegalAddress, lane,
                    fmt::format("a {} of memory that has been freed", what));
    }
    return true;
  }

  bool refuse(DeviceErrorCode code, int lane, std::string what) {
    Fault fault{.code = code, .lane = lane, .what = std::move(what)};
    if (code == DeviceErrorCode::kIllegalAddress) {
      fault.address = view_->address;
      fault.bytes = operands_.form.is_of_surface() ? operands_.form.bytes : view_->texel_bytes();
      fault.is_write = operands_.form.use == TexelUse::kStore;
    }
    fail(c_, in_, fault);
    return false;
  }

  bool trap(const Texels& texels, int lane) {
    const TexelCoordinates at = coordinates_of(lane);
    const char* const use = operands_.form.use == TexelUse::kStore ? "write" : "read";
    return refuse(
        texels.is_misaligned ? DeviceErrorCode::kMisalignedAddress
                             : DeviceErrorCode::kIllegalAddress,
        lane,
        fmt::format("{} surface {} of {} bytes at byte {}, row {}, slice {}",
                    texels.is_misaligned ? "a misaligned" : "an out-of-bounds", use,
                    operands_.form.bytes, std::bit_cast<std::int32_t>(at[0]),
                    std::bit_cast<std::int32_t>(at[1]),
                    std::bit_cast<std::int32_t>(operands_.form.is_layered ? at[3] : at[2])));
  }

  [[nodiscard]] TexelCoordinates coordinates_of(int lane) const {
    TexelCoordinates words{};
    for (std::size_t i = 0; i < words.size(); ++i) {
      const Slot slot = operands_.coordinates.at(i);
      words.at(i) = slot == kNoSlot ? 0 : source<std::uint32_t>(c_, slot)[lane];
    }
    return words;
  }

  void settle(const Texels& texels, int lane) {
    const std::uint32_t bytes =
        operands_.form.is_of_surface() ? operands_.form.bytes : view_->texel_bytes();
    for (std::uint32_t i = 0; i < texels.count; ++i) {
      if (texels.addresses.at(i) != Texels::kNone) {
        settle_for_copy(c_, lane, host_address<std::byte>(texels.addresses.at(i)), bytes);
      }
    }
  }

  void write(const Words& words, int lane) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (operands_.values.at(i) != kNoSlot) {
        place_of<std::uint32_t>(c_, operands_.values.at(i))[lane] = words.at(i);
      }
    }
  }

  // Nothing is stored outside, and read as zeros.
  void move(std::uint64_t address, int lane) {
    const std::uint32_t bytes = operands_.element_bytes;
    for (std::uint32_t i = 0; i < operands_.elements; ++i) {
      const Slot slot = operands_.values.at(i);
      if (slot == kNoSlot) {
        continue;
      }
      auto* const value =
          place_of<std::byte>(c_, slot) + static_cast<std::size_t>(lane) * (bytes == 8 ? 8 : 4);
      std::byte* const texel = address == Texels::kNone
                                   ? nullptr
                                   : host_address<std::byte>(address) + std::size_t{i} * bytes;
      if (operands_.form.use == TexelUse::kLoad) {
        std::memset(value, 0, bytes == 8 ? 8 : 4);
        if (texel != nullptr) {
          std::memcpy(value, texel, bytes);
        }
      } else if (texel != nullptr) {
        std::memcpy(texel, value, bytes);
      }
    }
  }

  Context& c_;
  const Instruction& in_;
  const TexelOperands& operands_;
  std::shared_ptr<const TextureView> view_;
  std::uint64_t handle_ = 0;
};

std::uint32_t answer(const TextureView& view, TextureQuery query) {
  switch (query) {
    case TextureQuery::kWidth:
      return view.width;
    case TextureQuery::kHeight:
      return view.dimensions < 2 ? 0 : view.height;
    case TextureQuery::kDepth:
      return view.dimensions < 3 ? 0 : view.depth;
    case TextureQuery::kLayers:
      return view.is_layered ? view.depth : 0;
    case TextureQuery::kIsNormalised:
      return view.is_normalised ? 1 : 0;
  }
  return 0;
}

}  // namespace

Step execute_texels(Context& c, const Instruction& in, std::uint32_t mask) {
  TexelWork work(c, in);
  for (const int lane : SetBits<int>(mask)) {
    if (!work.run(lane)) {
      return Step::kSwitch;
    }
  }
  return Step::kNext;
}

Step execute_texture_query(Context& c, const Instruction& in, std::uint32_t mask) {
  for (const int lane : SetBits<int>(mask)) {
    const std::uint64_t handle = source<std::uint64_t>(c, in.a)[lane];
    const auto view = c.launch->textures.find(handle);
    if (view == nullptr) {
      return fail(
          c, in,
          Fault{.code = DeviceErrorCode::kIllegalInstruction,
                .lane = lane,
                .what = fmt::format("{:#x}, which is no texture or surface object", handle)});
    }
    place_of<std::uint32_t>(c, in.d)[lane] = answer(*view, static_cast<TextureQuery>(in.flags));
  }
  return Step::kNext;
}

}  // namespace barracuda::emulator

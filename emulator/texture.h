// Textures and surfaces: what a handle stands for, and which texels an instruction reaches by it.
// Executing an instruction and logging it use the same places.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "ptx/texel_form.h"

namespace barracuda::emulator {

enum class TexelKind : std::uint8_t { kUnsigned, kSigned, kFloat };
enum class AddressMode : std::uint8_t { kWrap, kClamp, kMirror, kBorder };

// Memory as texels in rows, the rows in slices: of depth, or layers.
struct TextureView {
  std::uint64_t address = 0;
  std::uint32_t width = 0, height = 1, depth = 1;
  std::uint64_t row_bytes = 0, slice_bytes = 0;
  std::uint8_t dimensions = 1;  // 1 to 3, without layers
  bool is_layered = false;
  bool is_linear = false;   // memory without rows, read by number alone
  bool is_surface = false;  // made for surface instructions
  TexelKind kind = TexelKind::kUnsigned;
  std::uint8_t channels = 1, channel_bytes = 1;
  // Of textures.
  std::array<AddressMode, 3> modes{};
  bool interpolates = false;
  bool is_normalised = false;    // coordinates
  bool makes_fractions = false;  // integers are read as floats from 0 or -1 to 1
  std::array<float, 4> border{};

  [[nodiscard]] std::uint32_t texel_bytes() const {
    return std::uint32_t{channels} * channel_bytes;
  }

  [[nodiscard]] std::uint64_t bytes() const {
    return is_linear ? std::uint64_t{width} * texel_bytes()
                     : (depth - 1) * slice_bytes + (height - 1) * row_bytes +
                           std::uint64_t{width} * texel_bytes();
  }
};

using ptx::Outside;
using ptx::TexelForm;
using ptx::TexelUse;

// The words of a lane: x, y, z, then the layer; what the form has not is 0.
using TexelCoordinates = std::array<std::uint32_t, 4>;

// The corners of what is interpolated, or gathered; one of all others.
struct Texels {
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};  // the border, or nothing

  std::array<std::uint64_t, 8> addresses{};
  std::array<float, 8> weights{};
  std::uint32_t count = 0;
  bool is_trapped = false;     // a surface access outside, or one that no texel begins at
  bool is_misaligned = false;  // the latter
};

// Whether instructions of this form may be executed by this view.
bool fits(const TextureView& view, const TexelForm& form);

Texels texels_at(const TextureView& view, const TexelForm& form,
                 const TexelCoordinates& coordinates);

// The views of a device, by their handles. Thread-safe.
class TextureTable {
 public:
  TextureTable();
  ~TextureTable();
  TextureTable(const TextureTable&) = delete;
  TextureTable& operator=(const TextureTable&) = delete;

  std::uint64_t add(const TextureView& view);
  bool remove(std::uint64_t handle);
  // Null: there is none.
  [[nodiscard]] std::shared_ptr<const TextureView> find(std::uint64_t handle) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace barracuda::emulator

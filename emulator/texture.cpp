// Which texels coordinates mean: the appendix "Texture Fetching" of the CUDA C++ Programming Guide.
#include "emulator/texture.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

namespace barracuda::emulator {
namespace {

// Weights have 8 bits behind the point.
constexpr float kWeightSteps = 256;

// A texel's place in a dimension; `is_outside` of modes that have a border.
struct Index {
  std::int64_t at = 0;
  bool is_outside = false;
};

// Coordinates beyond these are as good as these, and an integer.
float bounded(float coordinate) {
  constexpr float kFar = 1 << 30;
  return std::isnan(coordinate) ? 0 : std::clamp(coordinate, -kFar, kFar);
}

std::int64_t modulo(std::int64_t value, std::int64_t size) {
  const std::int64_t rest = value % size;
  return rest < 0 ? rest + size : rest;
}

Index index_of(std::int64_t at, std::uint32_t size, AddressMode mode) {
  const auto last = std::int64_t{size} - 1;
  switch (mode) {
    case AddressMode::kWrap:
      return {.at = modulo(at, size)};
    case AddressMode::kMirror: {
      const std::int64_t place = modulo(at, 2 * std::int64_t{size});
      return {.at = place <= last ? place : 2 * std::int64_t{size} - 1 - place};
    }
    case AddressMode::kClamp:
      return {.at = std::clamp<std::int64_t>(at, 0, last)};
    case AddressMode::kBorder:
      break;
  }
  return {.at = at, .is_outside = at < 0 || at > last};
}

// One dimension of a fetch: a texel, or two with the second one's weight.
struct Axis {
  std::array<Index, 2> indices{};
  float second_weight = 0;
  bool is_pair = false;
};

std::uint32_t size_of(const TextureView& view, int dimension) {
  return dimension == 0 ? view.width : dimension == 1 ? view.height : view.depth;
}

// Wrapping and mirroring are for normalised coordinates alone.
AddressMode mode_of(const TextureView& view, int dimension) {
  const AddressMode mode = view.modes.at(static_cast<std::size_t>(dimension));
  const bool repeats = mode == AddressMode::kWrap || mode == AddressMode::kMirror;
  return repeats && !view.is_normalised ? AddressMode::kClamp : mode;
}

Axis axis_of(const TextureView& view, const TexelForm& form, int dimension, std::uint32_t word) {
  const std::uint32_t size = size_of(view, dimension);
  const AddressMode mode = mode_of(view, dimension);
  if (form.by_number) {
    const auto at = std::int64_t{std::bit_cast<std::int32_t>(word)};
    return {.indices = {index_of(at, size, view.is_linear ? AddressMode::kBorder : mode)}};
  }
  float coordinate = std::bit_cast<float>(word);
  if (view.is_normalised) {
    coordinate *= static_cast<float>(size);
  }
  coordinate = bounded(coordinate);
  if (!view.interpolates && form.use != TexelUse::kGather) {
    return {.indices = {index_of(static_cast<std::int64_t>(std::floor(coordinate)), size, mode)}};
  }
  const float shifted = std::floor((coordinate - 0.5F) * kWeightSteps + 0.5F) / kWeightSteps;
  const float lower = std::floor(shifted);
  const auto at = static_cast<std::int64_t>(lower);
  return {.indices = {index_of(at, size, mode), index_of(at + 1, size, mode)},
          .second_weight = shifted - lower,
          .is_pair = true};
}

std::uint32_t layer_of(const TextureView& view, const TexelCoordinates& coordinates) {
  const auto layer = std::bit_cast<std::int32_t>(coordinates[3]);
  return static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(layer, 0, std::int64_t{view.depth} - 1));
}

Texels sampled(const TextureView& view, const TexelForm& form,
               const TexelCoordinates& coordinates) {
  std::array<Axis, 3> axes{};
  for (int i = 0; i < form.dimensions; ++i) {
    const auto at = static_cast<std::size_t>(i);
    axes.at(at) = axis_of(view, form, i, coordinates.at(at));
  }
  Texels texels;
  for (std::uint32_t corner = 0; corner < 8; ++corner) {
    float weight = 1;
    bool is_there = true, is_outside = false;
    std::array<std::int64_t, 3> at{};
    for (std::uint32_t i = 0; i < 3; ++i) {
      const Axis& axis = axes.at(i);
      const std::uint32_t side = corner >> i & 1U;
      is_there = is_there && (side == 0 || axis.is_pair);
      weight *= side == 0 ? 1 - axis.second_weight : axis.second_weight;
      at.at(i) = axis.indices.at(side).at;
      is_outside = is_outside || axis.indices.at(side).is_outside;
    }
    if (!is_there || (weight == 0 && form.use != TexelUse::kGather)) {
      continue;
    }
    const auto slice = form.is_layered ? std::int64_t{layer_of(view, coordinates)} : at[2];
    texels.addresses.at(texels.count) =
        is_outside ? Texels::kNone
                   : view.address + static_cast<std::uint64_t>(slice) * view.slice_bytes +
                         static_cast<std::uint64_t>(at[1]) * view.row_bytes +
                         static_cast<std::uint64_t>(at[0]) * view.texel_bytes();
    texels.weights.at(texels.count) = weight;
    ++texels.count;
  }
  return texels;
}

// A surface's x counts bytes.
Texels of_surface(const TextureView& view, const TexelForm& form,
                  const TexelCoordinates& coordinates) {
  Texels texels{.count = 1};
  const std::int64_t row = std::int64_t{view.width} * view.texel_bytes();
  const std::array<std::int64_t, 3> ends = {row, view.height, view.depth};
  std::array<std::int64_t, 3> at{};
  for (std::uint32_t i = 0; i < form.dimensions; ++i) {
    at.at(i) = std::bit_cast<std::int32_t>(coordinates.at(i));
  }
  if (form.is_layered) {
    at[2] = std::bit_cast<std::int32_t>(coordinates[3]);
  }
  texels.is_misaligned = at[0] % form.bytes != 0;
  bool is_inside = true;
  for (std::uint32_t i = 0; i < 3; ++i) {
    const std::int64_t last = ends.at(i) - (i == 0 ? form.bytes : 1);
    is_inside = is_inside && at.at(i) >= 0 && at.at(i) <= last;
    if (form.outside == Outside::kClamps) {
      at.at(i) = std::clamp<std::int64_t>(at.at(i), 0, std::max<std::int64_t>(last, 0));
    }
  }
  texels.is_trapped =
      texels.is_misaligned || (!is_inside && form.outside == Outside::kTraps) || row < form.bytes;
  const bool is_reached = is_inside || form.outside == Outside::kClamps;
  texels.addresses[0] = texels.is_trapped || !is_reached
                            ? Texels::kNone
                            : view.address + static_cast<std::uint64_t>(at[2]) * view.slice_bytes +
                                  static_cast<std::uint64_t>(at[1]) * view.row_bytes +
                                  static_cast<std::uint64_t>(at[0]);
  return texels;
}

}  // namespace

bool fits(const TextureView& view, const TexelForm& form) {
  if (view.is_surface != form.is_of_surface() || view.dimensions != form.dimensions ||
      view.is_layered != form.is_layered) {
    return false;
  }
  return !view.is_linear || form.by_number;
}

Texels texels_at(const TextureView& view, const TexelForm& form,
                 const TexelCoordinates& coordinates) {
  return form.is_of_surface() ? of_surface(view, form, coordinates)
                              : sampled(view, form, coordinates);
}

struct TextureTable::State {
  mutable std::shared_mutex mutex;
  std::unordered_map<std::uint64_t, std::shared_ptr<const TextureView>> views;
  std::uint64_t last = 0;
};

TextureTable::TextureTable() : state_(std::make_unique<State>()) {}

TextureTable::~TextureTable() = default;

std::uint64_t TextureTable::add(const TextureView& view) {
  auto kept = std::make_shared<const TextureView>(view);
  const std::unique_lock lock(state_->mutex);
  state_->views.emplace(++state_->last, std::move(kept));
  return state_->last;
}

bool TextureTable::remove(std::uint64_t handle) {
  const std::unique_lock lock(state_->mutex);
  return state_->views.erase(handle) != 0;
}

std::shared_ptr<const TextureView> TextureTable::find(std::uint64_t handle) const {
  const std::shared_lock lock(state_->mutex);
  const auto found = state_->views.find(handle);
  return found == state_->views.end() ? nullptr : found->second;
}

}  // namespace barracuda::emulator

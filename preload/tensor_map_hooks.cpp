// Tensor maps: what their bytes mean the driver alone knows, so what the program says of a tensor
// is kept. Of maps that place elements otherwise than row by row nothing is kept, and what copies
// by them touch is named as not covered.
#include <algorithm>
#include <optional>

#include "base/tensor_map.h"
#include "preload/hook.h"

namespace barracuda::preload {
namespace {

using session::Session;

static_assert(static_cast<int>(TensorElement::kTf32Ftz) == CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ);
static_assert(static_cast<int>(TensorSwizzle::k128Bytes) == CU_TENSOR_MAP_SWIZZLE_128B);

// In global memory; `box` is null for im2col.
struct Extents {
  cuuint32_t rank;
  const cuuint64_t *sizes, *strides;
  const cuuint32_t *box, *steps;
};

// How the elements of a tensor lie in shared memory.
struct Layout {
  CUtensorMapInterleave interleave;
  CUtensorMapSwizzle swizzle;
  CUtensorMapFloatOOBfill fill;
};

// The driver has accepted all of it.
std::optional<TensorMap> map_of(CUtensorMapDataType type, const void* address,
                                const Extents& extents, const Layout& layout) {
  const auto& [rank, sizes, strides, box, steps] = extents;
  if (type > CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ || rank > kMaxTensorRank ||
      layout.interleave != CU_TENSOR_MAP_INTERLEAVE_NONE) {
    return std::nullopt;
  }
  TensorMap map;
  map.address = reinterpret_cast<std::uint64_t>(address);
  map.rank = static_cast<std::uint8_t>(rank);
  map.element = static_cast<TensorElement>(type);
  for (std::size_t i = 0; i < kMaxTensorRank; ++i) {
    const bool is_there = i < rank;
    map.last[i] = is_there ? static_cast<std::uint32_t>(sizes[i] - 1) : 0;
    map.box[i] = is_there && box != nullptr ? static_cast<std::uint16_t>(box[i]) : std::uint16_t{1};
    map.steps[i] = is_there && i != 0 ? static_cast<std::uint8_t>(steps[i]) : std::uint8_t{1};
    if (is_there && i != 0) {
      map.strides[i - 1] = strides[i - 1];
    }
  }
  // Those beyond 128B move larger pieces within as many bytes.
  map.swizzle = static_cast<TensorSwizzle>(
      std::min(static_cast<int>(layout.swizzle), int{CU_TENSOR_MAP_SWIZZLE_128B}));
  map.fills_with_nan = layout.fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
  return map;
}

}  // namespace

// NOLINTBEGIN(readability-function-size): CUDA's
CUresult cuTensorMapEncodeTiled(CUtensorMap* tensor_map, CUtensorMapDataType type, cuuint32_t rank,
                                void* address, const cuuint64_t* sizes, const cuuint64_t* strides,
                                const cuuint32_t* box, const cuuint32_t* steps,
                                CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  return call_and_note_success<&cuTensorMapEncodeTiled>(
      [&](Session& session) {
        if (const auto map = map_of(
                type, address,
                {.rank = rank, .sizes = sizes, .strides = strides, .box = box, .steps = steps},
                {.interleave = interleave, .swizzle = swizzle, .fill = fill})) {
          session.tensor_maps().made(tensor_map, *map);
        }
      },
      tensor_map, type, rank, address, sizes, strides, box, steps, interleave, swizzle, promotion,
      fill);
}

CUresult cuTensorMapEncodeIm2col(CUtensorMap* tensor_map, CUtensorMapDataType type, cuuint32_t rank,
                                 void* address, const cuuint64_t* sizes, const cuuint64_t* strides,
                                 const int* lower, const int* upper, cuuint32_t channels,
                                 cuuint32_t pixels, const cuuint32_t* steps,
                                 CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                 CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  return call_and_note_success<&cuTensorMapEncodeIm2col>(
      [&](Session& session) {
        auto map = map_of(
            type, address,
            {.rank = rank, .sizes = sizes, .strides = strides, .box = nullptr, .steps = steps},
            {.interleave = interleave, .swizzle = swizzle, .fill = fill});
        if (map) {
          map->box[0] = static_cast<std::uint16_t>(channels);
          map->pixels = static_cast<std::uint16_t>(pixels);
          for (std::size_t i = 0; i + 2 < rank; ++i) {
            map->lower.at(i) = static_cast<std::int16_t>(lower[i]);
            map->upper.at(i) = static_cast<std::int16_t>(upper[i]);
          }
          session.tensor_maps().made(tensor_map, *map);
        }
      },
      tensor_map, type, rank, address, sizes, strides, lower, upper, channels, pixels, steps,
      interleave, swizzle, promotion, fill);
}

CUresult cuTensorMapReplaceAddress(CUtensorMap* tensor_map, void* address) {
  const std::uint64_t before =
      tensor_map == nullptr ? 0 : session::TensorMapBook::number_of(tensor_map);
  return call_and_note_success<&cuTensorMapReplaceAddress>(
      [&](Session& session) {
        session.tensor_maps().moved(tensor_map, before, reinterpret_cast<std::uint64_t>(address));
      },
      tensor_map, address);
}

// NOLINTEND(readability-function-size)

}  // namespace barracuda::preload

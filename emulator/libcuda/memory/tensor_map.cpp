// Tensor maps: what a program says of a tensor is checked as cuda.h says, and kept in the map.
#include "emulator/execute/tensor_map.h"

#include <array>
#include <cstring>

#include "base/early_return.h"
#include "emulator/libcuda.h"
#include "emulator/libcuda/calls.h"
#include "emulator/tensor_map_image.h"

namespace barracuda::emulator::driver {
namespace {

static_assert(sizeof(CUtensorMap) == kTensorMapBytes);
static_assert(static_cast<int>(TensorElement::kTf32Ftz) == CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ &&
              static_cast<int>(TensorElement::kF16) == CU_TENSOR_MAP_DATA_TYPE_FLOAT16 &&
              static_cast<int>(TensorElement::kBf16) == CU_TENSOR_MAP_DATA_TYPE_BFLOAT16);
static_assert(static_cast<int>(TensorSwizzle::k128Bytes) == CU_TENSOR_MAP_SWIZZLE_128B &&
              static_cast<int>(TensorSwizzle::k32Bytes) == CU_TENSOR_MAP_SWIZZLE_32B);

constexpr std::uint64_t kMaxExtent = std::uint64_t{1} << 32;

// An enumerator may be anything that the program passes.
template <typename Enumerator>
bool is_between(Enumerator value, Enumerator first, Enumerator last) {
  return static_cast<int>(value) >= static_cast<int>(first) &&
         static_cast<int>(value) <= static_cast<int>(last);
}

// Values change on their way to shared memory, or lie there in another order.
bool is_emulated(CUtensorMapDataType type, CUtensorMapInterleave interleave) {
  return interleave == CU_TENSOR_MAP_INTERLEAVE_NONE && type < CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ;
}

// In what way a map would be of no tensor, whether or not copies by it are emulated.
bool is_possible(CUtensorMapDataType type, cuuint32_t rank, CUtensorMapInterleave interleave,
                 CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                 CUtensorMapFloatOOBfill fill) {
  return is_between(type, CU_TENSOR_MAP_DATA_TYPE_UINT8, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ) &&
         is_between(interleave, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_INTERLEAVE_32B) &&
         is_between(swizzle, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_SWIZZLE_128B) &&
         is_between(promotion, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                    CU_TENSOR_MAP_L2_PROMOTION_L2_256B) &&
         is_between(fill, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
                    CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA) &&
         rank <= kMaxTensorRank &&
         rank >= (interleave == CU_TENSOR_MAP_INTERLEAVE_NONE ? 1U : 3U) &&
         (interleave != CU_TENSOR_MAP_INTERLEAVE_32B || swizzle == CU_TENSOR_MAP_SWIZZLE_32B);
}

// False if a map has no room for one of the sizes.
bool set_dimensions(TensorMap& map, const cuuint64_t* sizes, const cuuint64_t* strides,
                    const cuuint32_t* box, const cuuint32_t* steps) {
  for (std::size_t i = 0; i < kMaxTensorRank; ++i) {
    map.box[i] = map.steps[i] = 1;
    if (i >= map.rank) {
      continue;
    }
    if (sizes[i] == 0 || sizes[i] > kMaxExtent || box[i] > 256 || steps[i] > 8 || steps[i] == 0) {
      return false;
    }
    map.last[i] = static_cast<std::uint32_t>(sizes[i] - 1);
    map.box[i] = static_cast<std::uint16_t>(box[i]);
    if (i != 0) {
      map.steps[i] = static_cast<std::uint8_t>(steps[i]);  // that of dimension 0 is ignored
      map.strides[i - 1] = strides[i - 1];
    }
  }
  return true;
}

// Channels, and pixels that follow each other between corners. An H200's driver refuses a box of
// pixels in which there is none.
bool set_pixels(TensorMap& map, const int* lower, const int* upper, cuuint32_t channels,
                cuuint32_t pixels) {
  constexpr cuuint32_t kMost = 0xFFFF;
  if (map.rank < 3 || channels == 0 || channels > kMost || pixels == 0 || pixels > kMost) {
    return false;
  }
  map.box.fill(1);
  map.box[0] = static_cast<std::uint16_t>(channels);
  map.pixels = static_cast<std::uint16_t>(pixels);
  for (std::size_t i = 0; i + 2 < map.rank; ++i) {
    map.lower[i] = static_cast<std::int16_t>(lower[i]);
    map.upper[i] = static_cast<std::int16_t>(upper[i]);
    if (map.lower[i] != lower[i] || map.upper[i] != upper[i] ||
        std::int64_t{map.last[i + 1]} + upper[i] < lower[i]) {
      return false;
    }
  }
  return true;
}

bool is_place(const CUtensorMap* map) {
  return map != nullptr && reinterpret_cast<std::uintptr_t>(map) % kTensorMapAlignment == 0;
}

// Without its dimensions.
TensorMapImage image_of(CUtensorMapDataType type, cuuint32_t rank, const void* address,
                        CUtensorMapSwizzle swizzle, CUtensorMapFloatOOBfill fill) {
  TensorMapImage image;
  image.map.address = reinterpret_cast<std::uintptr_t>(address);
  image.map.rank = static_cast<std::uint8_t>(rank);
  image.map.element = static_cast<TensorElement>(type);
  image.map.swizzle = static_cast<TensorSwizzle>(swizzle);
  image.map.fills_with_nan = fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
  return image;
}

}  // namespace

void set_tensor_map_handler(void (*handler)(const void* bytes, const TensorMap& map)) {
  emulator::set_tensor_map_handler(handler);
}

CUresult cuTensorMapEncodeTiled(CUtensorMap* tensor_map, CUtensorMapDataType type, cuuint32_t rank,
                                void* address, const cuuint64_t* sizes, const cuuint64_t* strides,
                                const cuuint32_t* box, const cuuint32_t* steps,
                                CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  RETURN_IF(!is_place(tensor_map) || sizes == nullptr || box == nullptr || steps == nullptr ||
                (rank > 1 && strides == nullptr) ||
                !is_possible(type, rank, interleave, swizzle, promotion, fill),
            CUDA_ERROR_INVALID_VALUE);
  RETURN_IF(!is_emulated(type, interleave), CUDA_ERROR_NOT_SUPPORTED);
  TensorMapImage image = image_of(type, rank, address, swizzle, fill);
  RETURN_IF(!set_dimensions(image.map, sizes, strides, box, steps) || !image.map.is_valid(),
            CUDA_ERROR_INVALID_VALUE);
  std::memcpy(tensor_map, &image, sizeof image);
  return CUDA_SUCCESS;
}

CUresult cuTensorMapEncodeIm2col(CUtensorMap* tensor_map, CUtensorMapDataType type, cuuint32_t rank,
                                 void* address, const cuuint64_t* sizes, const cuuint64_t* strides,
                                 const int* lower, const int* upper, cuuint32_t channels,
                                 cuuint32_t pixels, const cuuint32_t* steps,
                                 CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                 CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  RETURN_IF(!is_place(tensor_map) || sizes == nullptr || strides == nullptr || lower == nullptr ||
                upper == nullptr || steps == nullptr ||
                !is_possible(type, rank, interleave, swizzle, promotion, fill),
            CUDA_ERROR_INVALID_VALUE);
  RETURN_IF(!is_emulated(type, interleave), CUDA_ERROR_NOT_SUPPORTED);
  TensorMapImage image = image_of(type, rank, address, swizzle, fill);
  constexpr std::array<cuuint32_t, kMaxTensorRank> kSingle{1, 1, 1, 1, 1};
  RETURN_IF(!set_dimensions(image.map, sizes, strides, kSingle.data(), steps) ||
                !set_pixels(image.map, lower, upper, channels, pixels) || !image.map.is_valid(),
            CUDA_ERROR_INVALID_VALUE);
  std::memcpy(tensor_map, &image, sizeof image);
  return CUDA_SUCCESS;
}

CUresult cuTensorMapReplaceAddress(CUtensorMap* tensor_map, void* address) {
  RETURN_IF(!is_place(tensor_map), CUDA_ERROR_INVALID_VALUE);
  TensorMapImage image = read_tensor_map(tensor_map);
  image.map.address = reinterpret_cast<std::uintptr_t>(address);
  RETURN_IF(!image.is_valid(), CUDA_ERROR_INVALID_VALUE);
  std::memcpy(tensor_map, &image, sizeof image);
  return CUDA_SUCCESS;
}

}  // namespace barracuda::emulator::driver

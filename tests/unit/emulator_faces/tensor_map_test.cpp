// cuTensorMapEncodeTiled, cuTensorMapEncodeIm2col and cuTensorMapReplaceAddress: what they refuse,
// as an H200's driver does.
#include <array>
#include <bit>
#include <cstring>

#include <catch2/catch.hpp>

#include "emulator/libcuda.h"
#include "emulator/tensor_map_image.h"

#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

namespace driver = barracuda::emulator::driver;

namespace {

template <typename Function>
Function* find(const char* name) {
  return reinterpret_cast<Function*>(driver::find_function(name));
}

#define CU(name) find<decltype(::name)>(#name)

struct CurrentContext {
  CUcontext handle = nullptr;

  CurrentContext() {
    REQUIRE(CU(cuInit)(0) == CUDA_SUCCESS);
    REQUIRE(CU(cuCtxCreate_v4)(&handle, nullptr, 0, 0) == CUDA_SUCCESS);
  }

  ~CurrentContext() { CU(cuCtxDestroy_v2)(handle); }

  CurrentContext(const CurrentContext&) = delete;
  CurrentContext& operator=(const CurrentContext&) = delete;
};

// What is passed; the fields are changed one at a time.
struct Call {
  CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_INT32;
  cuuint32_t rank = 3;
  std::uint64_t address = 0x10000;
  std::array<cuuint64_t, 5> sizes{64, 32, 16, 8, 4};
  std::array<cuuint64_t, 4> strides{256, 8192, 131072, 1 << 20};
  std::array<cuuint32_t, 5> box{8, 4, 2, 1, 1}, steps{1, 1, 1, 1, 1};
  CUtensorMapInterleave interleave = CU_TENSOR_MAP_INTERLEAVE_NONE;
  CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
  CUtensorMapL2promotion promotion = CU_TENSOR_MAP_L2_PROMOTION_NONE;
  CUtensorMapFloatOOBfill fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;

  CUresult operator()(CUtensorMap* map) const {
    return CU(cuTensorMapEncodeTiled)(map, type, rank, reinterpret_cast<void*>(address),
                                      sizes.data(), strides.data(), box.data(), steps.data(),
                                      interleave, swizzle, promotion, fill);
  }
};

struct PixelCall {
  Call tensor;
  std::array<int, 3> lower{-1, -1, 0}, upper{1, 1, 0};
  cuuint32_t channels = 8, pixels = 32;

  PixelCall() { tensor.rank = 4; }

  CUresult operator()(CUtensorMap* map) const {
    return CU(cuTensorMapEncodeIm2col)(
        map, tensor.type, tensor.rank, reinterpret_cast<void*>(tensor.address), tensor.sizes.data(),
        tensor.strides.data(), lower.data(), upper.data(), channels, pixels, tensor.steps.data(),
        tensor.interleave, tensor.swizzle, tensor.promotion, tensor.fill);
  }
};

template <typename Change>
CUresult encode_with(const Change& change) {
  Call call;
  change(call);
  CUtensorMap map;
  return call(&map);
}

}  // namespace

TEST_CASE("a tensor map holds what the program says of its tensor") {
  const CurrentContext context;
  CUtensorMap map;
  Call call;
  call.swizzle = CU_TENSOR_MAP_SWIZZLE_64B;
  call.steps[1] = 2;
  REQUIRE(call(&map) == CUDA_SUCCESS);
  barracuda::emulator::TensorMapImage image = barracuda::emulator::read_tensor_map(&map);
  REQUIRE(image.is_valid());
  CHECK(image.map.address == 0x10000);
  CHECK(image.map.rank == 3);
  CHECK(image.map.last == std::array<std::uint32_t, 5>{63, 31, 15, 0, 0});
  CHECK(image.map.strides == std::array<std::uint64_t, 4>{256, 8192, 0, 0});
  CHECK(image.map.box == std::array<std::uint16_t, 5>{8, 4, 2, 1, 1});
  CHECK(image.map.steps == std::array<std::uint8_t, 5>{1, 2, 1, 1, 1});
  CHECK(image.map.swizzle == barracuda::TensorSwizzle::k64Bytes);
  CHECK(image.map.box_bytes() == 32 * 2 * 2);
  CHECK(CU(cuTensorMapReplaceAddress)(&map, reinterpret_cast<void*>(0x20000)) == CUDA_SUCCESS);
  image = barracuda::emulator::read_tensor_map(&map);
  CHECK(image.map.address == 0x20000);
  CHECK(image.map.rank == 3);
}

TEST_CASE("what no tensor map can be made of is refused") {
  const CurrentContext context;
  const auto refuses = [](const auto& change) {
    return encode_with(change) == CUDA_ERROR_INVALID_VALUE;
  };
  CHECK(encode_with([](Call&) {}) == CUDA_SUCCESS);
  CHECK(Call{}(nullptr) == CUDA_ERROR_INVALID_VALUE);
  std::array<CUtensorMap, 2> maps;
  auto* const off = reinterpret_cast<char*>(maps.data()) + 32;
  CHECK(Call{}(reinterpret_cast<CUtensorMap*>(off)) == CUDA_ERROR_INVALID_VALUE);
  CHECK(refuses([](Call& call) { call.rank = 0; }));
  CHECK(refuses([](Call& call) { call.rank = 6; }));
  CHECK(refuses([](Call& call) { call.address = 0x10008; }));
  CHECK(refuses([](Call& call) { call.sizes[1] = 0; }));
  CHECK(refuses([](Call& call) { call.sizes[1] = (1ULL << 32) + 1; }));
  CHECK_FALSE(refuses([](Call& call) { call.sizes[1] = 1ULL << 32; }));
  CHECK(refuses([](Call& call) { call.strides[1] = 8; }));
  CHECK(refuses([](Call& call) { call.strides[1] = 1ULL << 40; }));
  CHECK(refuses([](Call& call) { call.box[1] = 0; }));
  CHECK(refuses([](Call& call) { call.box[1] = 257; }));
  CHECK(refuses([](Call& call) { call.box[0] = 2; }));
  CHECK(refuses([](Call& call) { call.steps[1] = 0; }));
  CHECK(refuses([](Call& call) { call.steps[1] = 9; }));
  CHECK(refuses([](Call& call) { call.steps[0] = 9; }));  // though it is ignored
  CHECK_FALSE(refuses([](Call& call) { call.steps[0] = 2; }));
  CHECK(refuses([](Call& call) { call.type = std::bit_cast<CUtensorMapDataType>(99U); }));
  CHECK(refuses([](Call& call) { call.swizzle = std::bit_cast<CUtensorMapSwizzle>(4U); }));
  CHECK(refuses([](Call& call) {
    call.swizzle = CU_TENSOR_MAP_SWIZZLE_32B;
    call.box[0] = 16;
  }));
  CHECK(refuses([](Call& call) { call.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA; }));
  CHECK(refuses([](Call& call) { call.promotion = std::bit_cast<CUtensorMapL2promotion>(4U); }));
  CHECK(refuses([](Call& call) {
    call.rank = 2;
    call.interleave = CU_TENSOR_MAP_INTERLEAVE_16B;
  }));
}

TEST_CASE("a tensor map of pixels holds its corners and how many a copy takes") {
  const CurrentContext context;
  CUtensorMap map;
  REQUIRE(PixelCall{}(&map) == CUDA_SUCCESS);
  const barracuda::emulator::TensorMapImage image = barracuda::emulator::read_tensor_map(&map);
  REQUIRE(image.is_valid());
  CHECK(image.map.is_im2col());
  CHECK(image.map.lower == std::array<std::int16_t, 3>{-1, -1, 0});
  CHECK(image.map.upper == std::array<std::int16_t, 3>{1, 1, 0});
  CHECK(image.map.box == std::array<std::uint16_t, 5>{8, 1, 1, 1, 1});
  CHECK(image.map.box_bytes() == 8 * 4 * 32);
}

TEST_CASE("what no tensor map of pixels can be made of is refused") {
  const CurrentContext context;
  const auto refuses = [](const auto& change) {
    PixelCall call;
    change(call);
    CUtensorMap map;
    return call(&map) == CUDA_ERROR_INVALID_VALUE;
  };
  CHECK(refuses([](PixelCall& call) { call.tensor.rank = 2; }));
  CHECK(refuses([](PixelCall& call) { call.channels = 0; }));
  CHECK(refuses([](PixelCall& call) { call.channels = 260; }));
  CHECK(refuses([](PixelCall& call) { call.channels = 2; }));
  CHECK(refuses([](PixelCall& call) { call.pixels = 0; }));
  CHECK(refuses([](PixelCall& call) { call.pixels = 1025; }));
  CHECK_FALSE(refuses([](PixelCall& call) { call.pixels = 1024; }));
  CHECK(refuses([](PixelCall& call) { call.lower[0] = -129; }));
  CHECK_FALSE(refuses([](PixelCall& call) { call.lower[0] = -128; }));
  CHECK(refuses([](PixelCall& call) { call.upper[1] = 128; }));
  // Of 32 pixels in a row none is left.
  CHECK(refuses([](PixelCall& call) { call.upper[0] = -33; }));
  CHECK_FALSE(refuses([](PixelCall& call) { call.upper[0] = -32; }));
  CHECK(refuses([](PixelCall& call) { call.tensor.steps[1] = 9; }));
}

TEST_CASE("what the emulated device cannot copy is not supported") {
  const CurrentContext context;
  CHECK(encode_with([](Call& call) { call.interleave = CU_TENSOR_MAP_INTERLEAVE_16B; }) ==
        CUDA_ERROR_NOT_SUPPORTED);
  CHECK(encode_with([](Call& call) { call.type = CU_TENSOR_MAP_DATA_TYPE_TFLOAT32; }) ==
        CUDA_ERROR_NOT_SUPPORTED);
}

TEST_CASE("the address of what is no tensor map is not replaced") {
  const CurrentContext context;
  CUtensorMap map;
  std::memset(&map, 0, sizeof map);
  CHECK(CU(cuTensorMapReplaceAddress)(&map, reinterpret_cast<void*>(0x20000)) ==
        CUDA_ERROR_INVALID_VALUE);
  REQUIRE(Call{}(&map) == CUDA_SUCCESS);
  CHECK(CU(cuTensorMapReplaceAddress)(&map, reinterpret_cast<void*>(0x20008)) ==
        CUDA_ERROR_INVALID_VALUE);
  CHECK(CU(cuTensorMapReplaceAddress)(nullptr, reinterpret_cast<void*>(0x20000)) ==
        CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("a tensor map needs a context") {
  REQUIRE(CU(cuInit)(0) == CUDA_SUCCESS);
  REQUIRE(CU(cuCtxSetCurrent)(nullptr) == CUDA_SUCCESS);
  CUtensorMap map;
  CHECK(Call{}(&map) != CUDA_SUCCESS);
}

#include <cstring>

#include "emulator/driver/allocation.h"
#include "emulator/driver/stream.h"

namespace barracuda::emulator::driver {
namespace {

// One side of a copy of rows: CUDA's 2D and 3D descriptions say the same in other words.
struct BoxSide {
  CUmemorytype type = CU_MEMORYTYPE_UNIFIED;
  const void* host = nullptr;
  CUdeviceptr device = 0;
  std::size_t x = 0, y = 0, z = 0;
  std::size_t pitch = 0;  // 0: the rows lie close together
  std::size_t height = 0;

  [[nodiscard]] std::uint64_t base() const {
    return type == CU_MEMORYTYPE_HOST ? reinterpret_cast<std::uint64_t>(host) : device;
  }

  [[nodiscard]] std::uint64_t row(std::size_t row_y, std::size_t row_z) const {
    return base() + ((z + row_z) * height + y + row_y) * pitch + x;
  }
};

struct BoxCopy {
  BoxSide to, from;
  std::size_t width = 0, height = 0, depth = 1;
};

bool is_valid(const BoxSide& side, const BoxCopy& copy) {
  if (side.type == CU_MEMORYTYPE_ARRAY || side.pitch < copy.width + side.x) {
    return false;
  }
  const std::uint64_t first = side.row(0, 0);
  const std::size_t extent = side.row(copy.height - 1, copy.depth - 1) - first + copy.width;
  switch (side.type) {
    case CU_MEMORYTYPE_HOST:
      return side.host != nullptr;
    case CU_MEMORYTYPE_DEVICE:
      return is_accessible(first, extent);
    case CU_MEMORYTYPE_UNIFIED:
      return is_copyable(first, extent);
    case CU_MEMORYTYPE_ARRAY:
      break;
  }
  return false;
}

void complete(BoxSide& side, const BoxCopy& copy) {
  if (side.pitch == 0) {
    side.pitch = copy.width + side.x;
  }
  if (side.height == 0) {
    side.height = copy.height + side.y;
  }
}

CUresult run(BoxCopy copy, CUstream stream) {
  const StreamTurn turn(stream);
  if (turn.status() != CUDA_SUCCESS) {
    return turn.status();
  }
  if (copy.width == 0 || copy.height == 0 || copy.depth == 0) {
    return CUDA_SUCCESS;
  }
  complete(copy.to, copy);
  complete(copy.from, copy);
  if (!is_valid(copy.to, copy) || !is_valid(copy.from, copy)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  for (std::size_t z = 0; z < copy.depth; ++z) {
    for (std::size_t y = 0; y < copy.height; ++y) {
      std::memmove(reinterpret_cast<void*>(copy.to.row(y, z)),
                   reinterpret_cast<const void*>(copy.from.row(y, z)), copy.width);
    }
  }
  return CUDA_SUCCESS;
}

BoxCopy box_of(const CUDA_MEMCPY2D& copy) {
  return {.to = {.type = copy.dstMemoryType,
                 .host = copy.dstHost,
                 .device = copy.dstDevice,
                 .x = copy.dstXInBytes,
                 .y = copy.dstY,
                 .pitch = copy.dstPitch},
          .from = {.type = copy.srcMemoryType,
                   .host = copy.srcHost,
                   .device = copy.srcDevice,
                   .x = copy.srcXInBytes,
                   .y = copy.srcY,
                   .pitch = copy.srcPitch},
          .width = copy.WidthInBytes,
          .height = copy.Height};
}

BoxCopy box_of(const CUDA_MEMCPY3D& copy) {
  return {.to = {.type = copy.dstMemoryType,
                 .host = copy.dstHost,
                 .device = copy.dstDevice,
                 .x = copy.dstXInBytes,
                 .y = copy.dstY,
                 .z = copy.dstZ,
                 .pitch = copy.dstPitch,
                 .height = copy.dstHeight},
          .from = {.type = copy.srcMemoryType,
                   .host = copy.srcHost,
                   .device = copy.srcDevice,
                   .x = copy.srcXInBytes,
                   .y = copy.srcY,
                   .z = copy.srcZ,
                   .pitch = copy.srcPitch,
                   .height = copy.srcHeight},
          .width = copy.WidthInBytes,
          .height = copy.Height,
          .depth = copy.Depth};
}

}  // namespace

CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* copy, CUstream stream) {
  return copy == nullptr ? CUDA_ERROR_INVALID_VALUE : run(box_of(*copy), stream);
}

CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D* copy) {
  return driver::cuMemcpy2DAsync_v2(copy, nullptr);
}

CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D* copy) {
  return driver::cuMemcpy2DAsync_v2(copy, nullptr);
}

CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D* copy, CUstream stream) {
  return copy == nullptr ? CUDA_ERROR_INVALID_VALUE : run(box_of(*copy), stream);
}

CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D* copy) {
  return driver::cuMemcpy3DAsync_v2(copy, nullptr);
}

}  // namespace barracuda::emulator::driver

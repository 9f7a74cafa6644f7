#include <cstring>

#include "base/early_return.h"
#include "emulator/libcuda/copy/box.h"
#include "emulator/libcuda/memory/allocation.h"
#include "emulator/libcuda/memory/array.h"
#include "emulator/libcuda/stream/work.h"

namespace barracuda::emulator::driver {
namespace {

// One side of a copy of rows, with its pitch and height known.
struct BoxSide {
  CUmemorytype type = CU_MEMORYTYPE_UNIFIED;
  std::uint64_t base = 0;
  std::size_t x = 0, y = 0, z = 0;
  std::size_t pitch = 0, height = 0;
  std::shared_ptr<Array> array{};  // alive while the copy runs

  [[nodiscard]] std::uint64_t row(std::size_t row_y, std::size_t row_z) const {
    return base + ((z + row_z) * height + y + row_y) * pitch + x;
  }
};

struct BoxCopy {
  BoxSide to, from;
  std::size_t width = 0, height = 0, depth = 0;
};

bool is_inside_array(const BoxSide& side, const BoxCopy& copy) {
  const Array& array = *side.array;
  const auto fits = [](std::size_t first, std::size_t count, std::size_t end) {
    return first <= end && count <= end - first;
  };
  return fits(side.x, copy.width, array.row_bytes()) && fits(side.y, copy.height, array.rows()) &&
         fits(side.z, copy.depth, array.layers());
}

bool is_valid(const BoxSide& side, const BoxCopy& copy) {
  if (side.type == CU_MEMORYTYPE_ARRAY) {
    return side.array != nullptr && is_inside_array(side, copy);
  }
  if (side.pitch < copy.width + side.x) {
    return false;
  }
  const std::uint64_t first = side.row(0, 0);
  const std::size_t extent = side.row(copy.height - 1, copy.depth - 1) - first + copy.width;
  switch (side.type) {
    case CU_MEMORYTYPE_HOST:
      return side.base != 0;  // the caller's memory: trusted, as libcuda does
    case CU_MEMORYTYPE_DEVICE:
      return is_accessible(first, extent);
    case CU_MEMORYTYPE_UNIFIED:
      return is_copyable(first, extent);
    case CU_MEMORYTYPE_ARRAY:
      break;
  }
  return false;
}

void find_memory(BoxSide& side, const void* host, CUdeviceptr device, CUarray array) {
  if (side.type == CU_MEMORYTYPE_ARRAY) {
    side.array = find_array(array);
    if (side.array != nullptr) {
      side.base = side.array->address;
      side.pitch = side.array->row_bytes();
      side.height = side.array->rows();
    }
    return;
  }
  side.base = side.type == CU_MEMORYTYPE_HOST ? reinterpret_cast<std::uint64_t>(host) : device;
}

BoxCopy sides_of(const CUDA_MEMCPY3D& given) {
  const CUDA_MEMCPY3D copy = completed(given);
  BoxCopy box{.to = {.type = copy.dstMemoryType,
                     .x = copy.dstXInBytes,
                     .y = copy.dstY,
                     .z = copy.dstZ,
                     .pitch = copy.dstPitch,
                     .height = copy.dstHeight},
              .from = {.type = copy.srcMemoryType,
                       .x = copy.srcXInBytes,
                       .y = copy.srcY,
                       .z = copy.srcZ,
                       .pitch = copy.srcPitch,
                       .height = copy.srcHeight},
              .width = copy.WidthInBytes,
              .height = copy.Height,
              .depth = copy.Depth};
  find_memory(box.to, copy.dstHost, copy.dstDevice, copy.dstArray);
  find_memory(box.from, copy.srcHost, copy.srcDevice, copy.srcArray);
  return box;
}

CUresult check_peers(const CUDA_MEMCPY3D_PEER* copy) {
  RETURN_IF(copy == nullptr, CUDA_ERROR_INVALID_VALUE);
  return find_context(copy->srcContext) != nullptr && find_context(copy->dstContext) != nullptr
             ? CUDA_SUCCESS
             : CUDA_ERROR_INVALID_CONTEXT;
}

}  // namespace

CUresult check(const CopyWork& work) {
  if (is_empty(work.copy)) {
    return CUDA_SUCCESS;
  }
  const BoxCopy box = sides_of(work.copy);
  return is_valid(box.to, box) && is_valid(box.from, box) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult run(const CopyWork& work) {
  if (is_empty(work.copy)) {
    return CUDA_SUCCESS;
  }
  const BoxCopy copy = sides_of(work.copy);
  RETURN_IF(!is_valid(copy.to, copy) || !is_valid(copy.from, copy), CUDA_ERROR_INVALID_VALUE);
  for (std::size_t z = 0; z < copy.depth; ++z) {
    for (std::size_t y = 0; y < copy.height; ++y) {
      std::memmove(reinterpret_cast<void*>(copy.to.row(y, z)),
                   reinterpret_cast<const void*>(copy.from.row(y, z)), copy.width);
    }
  }
  return CUDA_SUCCESS;
}

CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* copy, CUstream stream) {
  return copy == nullptr ? CUDA_ERROR_INVALID_VALUE : submit(stream, CopyWork{box_of(*copy)});
}

CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D* copy, CUstream stream) {
  return copy == nullptr ? CUDA_ERROR_INVALID_VALUE : submit(stream, CopyWork{*copy});
}

// With one device its contexts share their memory.
CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER* copy, CUstream stream) {
  const CUresult status = check_peers(copy);
  return status == CUDA_SUCCESS ? submit(stream, CopyWork{box_of(*copy)}) : status;
}

}  // namespace barracuda::emulator::driver

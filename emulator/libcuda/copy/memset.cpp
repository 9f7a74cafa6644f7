#include <algorithm>
#include <span>

#include "base/early_return.h"
#include "emulator/libcuda/memory/allocation.h"
#include "emulator/libcuda/stream/work.h"

namespace barracuda::emulator::driver {
namespace {

struct Rows {
  CUdeviceptr address = 0;
  std::size_t pitch = 0;
  std::size_t width = 0;  // elements
  std::size_t height = 1;
};

template <typename Element>
CUresult fill(const Rows& rows, Element value, CUstream stream) {
  return submit(stream, MemsetWork{{.dst = rows.address,
                                    .pitch = rows.pitch,
                                    .value = value,
                                    .elementSize = sizeof(Element),
                                    .width = rows.width,
                                    .height = rows.height}});
}

template <typename Element>
void fill_rows(const CUDA_MEMSET_NODE_PARAMS_v1& fill) {
  for (std::size_t y = 0; y < fill.height; ++y) {
    auto* const row = reinterpret_cast<Element*>(fill.dst + y * fill.pitch);
    std::ranges::fill(std::span(row, fill.width), static_cast<Element>(fill.value));
  }
}

}  // namespace

CUresult check(const MemsetWork& work) {
  const CUDA_MEMSET_NODE_PARAMS_v1& fill = work.fill;
  RETURN_IF(fill.elementSize != 1 && fill.elementSize != 2 && fill.elementSize != 4,
            CUDA_ERROR_INVALID_VALUE);
  if (fill.width == 0 || fill.height == 0) {
    return CUDA_SUCCESS;
  }
  const std::size_t row_bytes = fill.width * fill.elementSize;
  return fill.dst % fill.elementSize == 0 && (fill.height == 1 || fill.pitch >= row_bytes) &&
                 is_accessible(fill.dst, fill.pitch * (fill.height - 1) + row_bytes)
             ? CUDA_SUCCESS
             : CUDA_ERROR_INVALID_VALUE;
}

CUresult run(const MemsetWork& work) {
  RETURN_IF_FAILED(check(work));
  if (work.fill.elementSize == 1) {
    fill_rows<std::uint8_t>(work.fill);
  } else if (work.fill.elementSize == 2) {
    fill_rows<std::uint16_t>(work.fill);
  } else {
    fill_rows<std::uint32_t>(work.fill);
  }
  return CUDA_SUCCESS;
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t count, CUstream stream) {
  return fill({.address = to, .width = count}, value, stream);
}

CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, std::size_t count,
                          CUstream stream) {
  return fill({.address = to, .width = count}, value, stream);
}

CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, std::size_t count, CUstream stream) {
  return fill({.address = to, .width = count}, value, stream);
}

CUresult cuMemsetD2D8Async(CUdeviceptr to, std::size_t pitch, unsigned char value,
                           std::size_t width, std::size_t height, CUstream stream) {
  return fill({.address = to, .pitch = pitch, .width = width, .height = height}, value, stream);
}

CUresult cuMemsetD2D16Async(CUdeviceptr to, std::size_t pitch, unsigned short value,
                            std::size_t width, std::size_t height, CUstream stream) {
  return fill({.address = to, .pitch = pitch, .width = width, .height = height}, value, stream);
}

CUresult cuMemsetD2D32Async(CUdeviceptr to, std::size_t pitch, unsigned value, std::size_t width,
                            std::size_t height, CUstream stream) {
  return fill({.address = to, .pitch = pitch, .width = width, .height = height}, value, stream);
}

}  // namespace barracuda::emulator::driver

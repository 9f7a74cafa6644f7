#include <algorithm>
#include <span>

#include "emulator/driver/allocation.h"
#include "emulator/driver/stream.h"

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
  const StreamTurn turn(stream);
  if (turn.status() != CUDA_SUCCESS) {
    return turn.status();
  }
  if (rows.width == 0 || rows.height == 0) {
    return CUDA_SUCCESS;
  }
  const std::size_t row_bytes = rows.width * sizeof(Element);
  if (rows.address % sizeof(Element) != 0 || (rows.height > 1 && rows.pitch < row_bytes) ||
      !is_accessible(rows.address, rows.pitch * (rows.height - 1) + row_bytes)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  for (std::size_t y = 0; y < rows.height; ++y) {
    auto* const row = reinterpret_cast<Element*>(rows.address + y * rows.pitch);
    std::ranges::fill(std::span(row, rows.width), value);
  }
  return CUDA_SUCCESS;
}

}  // namespace

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

CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, std::size_t count) {
  return driver::cuMemsetD8Async(to, value, count, nullptr);
}

CUresult cuMemsetD16_v2(CUdeviceptr to, unsigned short value, std::size_t count) {
  return driver::cuMemsetD16Async(to, value, count, nullptr);
}

CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned value, std::size_t count) {
  return driver::cuMemsetD32Async(to, value, count, nullptr);
}

CUresult cuMemsetD2D8_v2(CUdeviceptr to, std::size_t pitch, unsigned char value, std::size_t width,
                         std::size_t height) {
  return driver::cuMemsetD2D8Async(to, pitch, value, width, height, nullptr);
}

CUresult cuMemsetD2D16_v2(CUdeviceptr to, std::size_t pitch, unsigned short value,
                          std::size_t width, std::size_t height) {
  return driver::cuMemsetD2D16Async(to, pitch, value, width, height, nullptr);
}

CUresult cuMemsetD2D32_v2(CUdeviceptr to, std::size_t pitch, unsigned value, std::size_t width,
                          std::size_t height) {
  return driver::cuMemsetD2D32Async(to, pitch, value, width, height, nullptr);
}

}  // namespace barracuda::emulator::driver

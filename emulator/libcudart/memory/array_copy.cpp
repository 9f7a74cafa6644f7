#include <algorithm>

#include "base/early_return.h"
#include "emulator/libcudart/memory/box_copy.h"
#include "emulator/libcudart/memory/copy.h"

// Offsets and widths are in bytes here, unlike in cudaMemcpy3D.
namespace barracuda::emulator::runtime {
namespace {

struct Place {
  CUarray array = nullptr;  // null: memory
  const void* memory = nullptr;
  std::size_t x = 0, y = 0;  // in an array
  std::size_t pitch = 0;     // of memory
};

CUDA_MEMCPY3D describe(const Place& to, const Place& from, std::size_t width, std::size_t height,
                       cudaMemcpyKind kind) {
  CUDA_MEMCPY3D copy{};
  copy.dstMemoryType = to.array == nullptr ? target_type(kind) : CU_MEMORYTYPE_ARRAY;
  copy.dstArray = to.array;
  copy.dstHost = const_cast<void*>(to.memory);
  copy.dstDevice = device_pointer(to.memory);
  copy.dstXInBytes = to.x;
  copy.dstY = to.y;
  copy.dstPitch = to.pitch;
  copy.srcMemoryType = from.array == nullptr ? source_type(kind) : CU_MEMORYTYPE_ARRAY;
  copy.srcArray = from.array;
  copy.srcHost = from.memory;
  copy.srcDevice = device_pointer(from.memory);
  copy.srcXInBytes = from.x;
  copy.srcY = from.y;
  copy.srcPitch = from.pitch;
  copy.WidthInBytes = width;
  copy.Height = height;
  copy.Depth = 1;
  return copy;
}

CUresult copy_box(const DriverCalls& calls, const CUDA_MEMCPY3D& copy,
                  std::optional<CUstream> stream) {
  return stream ? calls.cuMemcpy3DAsync_v2(&copy, *stream) : run_box_copy(calls, copy);
}

cudaError_t copy_rows(const Place& to, const Place& from, std::size_t width, std::size_t height,
                      cudaMemcpyKind kind, std::optional<CUstream> stream) {
  RETURN_IF(!is_kind(kind), note(cudaErrorInvalidMemcpyDirection));
  return run([&](const DriverCalls& calls) {
    return copy_box(calls, describe(to, from, width, height, kind), stream);
  });
}

CUresult row_bytes(const DriverCalls& calls, CUarray array, std::size_t& bytes) {
  CUDA_ARRAY3D_DESCRIPTOR_v2 descriptor{};
  CUresult status = calls.cuArray3DGetDescriptor_v2(&descriptor, array);
  if (status == CUDA_SUCCESS) {
    status = element_bytes(calls, array, bytes);
    bytes *= descriptor.Width;
  }
  return status;
}

// Moves on by bytes that end in the same row or at its end.
void advance(Place& place, std::size_t bytes, std::size_t row) {
  if (place.array == nullptr) {
    place.memory = static_cast<const std::byte*>(place.memory) + bytes;
    return;
  }
  place.x += bytes;
  if (place.x == row) {
    place.x = 0;
    ++place.y;
  }
}

// Bytes that go on in the next row where a row of an array ends.
cudaError_t copy_bytes(Place to, Place from, std::size_t count, cudaMemcpyKind kind,
                       std::optional<CUstream> stream) {
  RETURN_IF(!is_kind(kind), note(cudaErrorInvalidMemcpyDirection));
  return run([&](const DriverCalls& calls) {
    std::size_t to_row = SIZE_MAX;
    std::size_t from_row = SIZE_MAX;
    CUresult status = CUDA_SUCCESS;
    if (to.array != nullptr) {
      status = row_bytes(calls, to.array, to_row);
    }
    if (status == CUDA_SUCCESS && from.array != nullptr) {
      status = row_bytes(calls, from.array, from_row);
    }
    if (status == CUDA_SUCCESS && (to.x > to_row || from.x > from_row)) {
      status = CUDA_ERROR_INVALID_VALUE;
    }
    while (status == CUDA_SUCCESS && count != 0) {
      const std::size_t piece = std::min({count, to_row - to.x, from_row - from.x});
      status = piece == 0 ? CUDA_ERROR_INVALID_VALUE
                          : copy_box(calls, describe(to, from, piece, 1, kind), stream);
      advance(to, piece, to_row);
      advance(from, piece, from_row);
      count -= piece;
    }
    return status;
  });
}

Place in_array(cudaArray_const_t array, std::size_t x, std::size_t y) {
  return {.array = array_of(array), .x = x, .y = y};
}

}  // namespace

cudaError_t cudaMemcpy2DToArray(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                                std::size_t pitch, std::size_t width, std::size_t height,
                                cudaMemcpyKind kind) {
  return copy_rows(in_array(to, x, y), {.memory = from, .pitch = pitch}, width, height, kind, {});
}

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                                     std::size_t pitch, std::size_t width, std::size_t height,
                                     cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_rows(in_array(to, x, y), {.memory = from, .pitch = pitch}, width, height, kind,
                   stream_of(stream));
}

cudaError_t cudaMemcpy2DFromArray(void* to, std::size_t pitch, cudaArray_const_t from,
                                  std::size_t x, std::size_t y, std::size_t width,
                                  std::size_t height, cudaMemcpyKind kind) {
  return copy_rows({.memory = to, .pitch = pitch}, in_array(from, x, y), width, height, kind, {});
}

cudaError_t cudaMemcpy2DFromArrayAsync(void* to, std::size_t pitch, cudaArray_const_t from,
                                       std::size_t x, std::size_t y, std::size_t width,
                                       std::size_t height, cudaMemcpyKind kind,
                                       cudaStream_t stream) {
  return copy_rows({.memory = to, .pitch = pitch}, in_array(from, x, y), width, height, kind,
                   stream_of(stream));
}

cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, std::size_t to_x, std::size_t to_y,
                                     cudaArray_const_t from, std::size_t from_x, std::size_t from_y,
                                     std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  return copy_rows(in_array(to, to_x, to_y), in_array(from, from_x, from_y), width, height, kind,
                   {});
}

cudaError_t cudaMemcpyToArray(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                              std::size_t count, cudaMemcpyKind kind) {
  return copy_bytes(in_array(to, x, y), {.memory = from}, count, kind, {});
}

cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                                   std::size_t count, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_bytes(in_array(to, x, y), {.memory = from}, count, kind, stream_of(stream));
}

cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, std::size_t x, std::size_t y,
                                std::size_t count, cudaMemcpyKind kind) {
  return copy_bytes({.memory = to}, in_array(from, x, y), count, kind, {});
}

cudaError_t cudaMemcpyFromArrayAsync(void* to, cudaArray_const_t from, std::size_t x, std::size_t y,
                                     std::size_t count, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_bytes({.memory = to}, in_array(from, x, y), count, kind, stream_of(stream));
}

cudaError_t cudaMemcpyArrayToArray(cudaArray_t to, std::size_t to_x, std::size_t to_y,
                                   cudaArray_const_t from, std::size_t from_x, std::size_t from_y,
                                   std::size_t count, cudaMemcpyKind kind) {
  return copy_bytes(in_array(to, to_x, to_y), in_array(from, from_x, from_y), count, kind, {});
}

}  // namespace barracuda::emulator::runtime

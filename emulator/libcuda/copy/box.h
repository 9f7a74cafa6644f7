// A copy of a box of bytes: CUDA's structs that describe one, brought to the form of the widest.
// libbarracuda's hooks read the program's copies with the same functions as the emulated driver.
#pragma once

#include <cstddef>
#include <cstring>

// Makes cuda.h declare every exported name as it is, _v2, _ptsz and _ptds forms included.
#ifndef __CUDA_API_VERSION_INTERNAL
#  define __CUDA_API_VERSION_INTERNAL  // NOLINT(readability-identifier-naming): CUDA's name
#endif
#include <cuda.h>

namespace barracuda::emulator::driver {

inline bool is_empty(const CUDA_MEMCPY3D& copy) {
  return copy.WidthInBytes == 0 || copy.Height == 0 || copy.Depth == 0;
}

// Where CUDA leaves pitch or height at zero, the rows lie close together.
inline CUDA_MEMCPY3D completed(CUDA_MEMCPY3D copy) {
  copy.srcPitch = copy.srcPitch == 0 ? copy.WidthInBytes + copy.srcXInBytes : copy.srcPitch;
  copy.dstPitch = copy.dstPitch == 0 ? copy.WidthInBytes + copy.dstXInBytes : copy.dstPitch;
  copy.srcHeight = copy.srcHeight == 0 ? copy.Height + copy.srcY : copy.srcHeight;
  copy.dstHeight = copy.dstHeight == 0 ? copy.Height + copy.dstY : copy.dstHeight;
  return copy;
}

// A copy of planes says less.
inline CUDA_MEMCPY3D box_of(const CUDA_MEMCPY2D& from) {
  CUDA_MEMCPY3D copy{};
  copy.srcXInBytes = from.srcXInBytes;
  copy.srcY = from.srcY;
  copy.srcMemoryType = from.srcMemoryType;
  copy.srcHost = from.srcHost;
  copy.srcDevice = from.srcDevice;
  copy.srcArray = from.srcArray;
  copy.srcPitch = from.srcPitch;
  copy.dstXInBytes = from.dstXInBytes;
  copy.dstY = from.dstY;
  copy.dstMemoryType = from.dstMemoryType;
  copy.dstHost = from.dstHost;
  copy.dstDevice = from.dstDevice;
  copy.dstArray = from.dstArray;
  copy.dstPitch = from.dstPitch;
  copy.WidthInBytes = from.WidthInBytes;
  copy.Height = from.Height;
  copy.Depth = 1;
  return copy;
}

// Without the contexts.
inline CUDA_MEMCPY3D box_of(const CUDA_MEMCPY3D_PEER& from) {
  CUDA_MEMCPY3D copy{};
  static_assert(sizeof copy == sizeof from);
  std::memcpy(&copy, &from, sizeof copy);
  copy.reserved0 = nullptr;
  copy.reserved1 = nullptr;
  return copy;
}

// Of an element of an array; 0 for formats that are not known here.
inline std::size_t element_bytes(CUarray_format format, unsigned channels) {
  switch (static_cast<int>(format)) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
      return channels;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
      return std::size_t{2} * channels;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT:
      return std::size_t{4} * channels;
    default:
      return 0;
  }
}

// The array at one end of a copy of a batch, if there is one.
inline CUarray array_of(const CUDA_MEMCPY3D_BATCH_OP& copy) {
  return copy.src.type == CU_MEMCPY_OPERAND_TYPE_ARRAY   ? copy.src.op.array.array
         : copy.dst.type == CU_MEMCPY_OPERAND_TYPE_ARRAY ? copy.dst.op.array.array
                                                         : nullptr;
}

// Sizes of a box with an array are in its elements, else in bytes: `unit` bytes.
inline CUDA_MEMCPY3D box_of(const CUDA_MEMCPY3D_BATCH_OP& from, std::size_t unit) {
  CUDA_MEMCPY3D copy{};
  if (from.src.type == CU_MEMCPY_OPERAND_TYPE_ARRAY) {
    const auto& array = from.src.op.array;
    copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.srcArray = array.array;
    copy.srcXInBytes = array.offset.x * unit;
    copy.srcY = array.offset.y;
    copy.srcZ = array.offset.z;
  } else {
    copy.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
    copy.srcDevice = from.src.op.ptr.ptr;
    copy.srcPitch = from.src.op.ptr.rowLength * unit;
    copy.srcHeight = from.src.op.ptr.layerHeight;
  }
  if (from.dst.type == CU_MEMCPY_OPERAND_TYPE_ARRAY) {
    const auto& array = from.dst.op.array;
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = array.array;
    copy.dstXInBytes = array.offset.x * unit;
    copy.dstY = array.offset.y;
    copy.dstZ = array.offset.z;
  } else {
    copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
    copy.dstDevice = from.dst.op.ptr.ptr;
    copy.dstPitch = from.dst.op.ptr.rowLength * unit;
    copy.dstHeight = from.dst.op.ptr.layerHeight;
  }
  copy.WidthInBytes = from.extent.width * unit;
  copy.Height = from.extent.height;
  copy.Depth = from.extent.depth;
  return copy;
}

}  // namespace barracuda::emulator::driver

// Copies of bytes in a row, between memory and arrays of one dimension.
#pragma once

#include <cstddef>
#include <cstdint>

#include "emulator/libcuda/calls.h"

namespace barracuda::emulator::driver {

struct RowSide {
  CUmemorytype type = CU_MEMORYTYPE_DEVICE;
  std::uint64_t address = 0;
  CUarray array = nullptr;
  std::size_t offset = 0;  // in the array
};

inline RowSide in_array(CUarray array, std::size_t offset) {
  return {.type = CU_MEMORYTYPE_ARRAY, .array = array, .offset = offset};
}

inline RowSide on_host(const void* address) {
  return {.type = CU_MEMORYTYPE_HOST, .address = reinterpret_cast<std::uint64_t>(address)};
}

inline RowSide on_device(CUdeviceptr address) {
  return {.type = CU_MEMORYTYPE_DEVICE, .address = address};
}

inline RowSide on_either(CUdeviceptr address) {
  return {.type = CU_MEMORYTYPE_UNIFIED, .address = address};
}

CUresult copy_row(const RowSide& to, const RowSide& from, std::size_t bytes, CUstream stream);

}  // namespace barracuda::emulator::driver

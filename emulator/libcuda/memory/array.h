// CUDA arrays: memory that copies reach, and kernels by textures and surfaces alone. Rows lie close
// together.
#pragma once

#include <cstdint>
#include <memory>

#include "emulator/libcuda/context/context.h"

namespace barracuda::emulator::driver {

struct Array {
  Array() = default;
  ~Array();
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  Context* context = nullptr;
  CUDA_ARRAY3D_DESCRIPTOR_v2 descriptor{};
  std::uint64_t address = 0;  // in the device's memory

  [[nodiscard]] std::size_t row_bytes() const;
  [[nodiscard]] std::size_t rows() const;    // of one layer
  [[nodiscard]] std::size_t layers() const;  // the depth, or the layers of a layered array

  [[nodiscard]] std::size_t bytes() const { return row_bytes() * rows() * layers(); }
};

std::shared_ptr<Array> find_array(CUarray handle);
void release_arrays(const Context& context);
// Textures and surfaces that were made there.
void release_textures(const Context& context);

}  // namespace barracuda::emulator::driver

// CUDA arrays: memory that copies reach and kernels do not, for there are no textures. Rows lie
// close together.
#pragma once

#include <memory>
#include <vector>

#include "emulator/libcuda/context/context.h"

namespace barracuda::emulator::driver {

struct Array {
  Context* context = nullptr;
  CUDA_ARRAY3D_DESCRIPTOR_v2 descriptor{};
  std::vector<std::byte> bytes;

  [[nodiscard]] std::size_t row_bytes() const;
  [[nodiscard]] std::size_t rows() const;    // of one layer
  [[nodiscard]] std::size_t layers() const;  // the depth, or the layers of a layered array
};

std::shared_ptr<Array> find_array(CUarray handle);
void release_arrays(const Context& context);

}  // namespace barracuda::emulator::driver

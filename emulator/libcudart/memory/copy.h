// One copy of bytes by the runtime's kind of copy; symbols use it too.
#pragma once

#include <optional>

#include "emulator/libcudart/driver_calls.h"

namespace barracuda::emulator::runtime {

struct Copy {
  void* to = nullptr;
  const void* from = nullptr;
  std::size_t bytes = 0;
  cudaMemcpyKind kind = cudaMemcpyDefault;
};

bool is_kind(cudaMemcpyKind kind);
// With a stream asynchronous, else not.
CUresult copy_bytes(const DriverCalls& calls, const Copy& copy, std::optional<CUstream> stream);
// Where these bytes of a variable of the program are. Notes no error.
cudaError_t find_place(const void* variable, std::size_t offset, std::size_t bytes, void*& address);

}  // namespace barracuda::emulator::runtime

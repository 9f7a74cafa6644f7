// Calls a CUB device algorithm the way CUB asks for it: once for the size of its temporary storage,
// once to run.
#pragma once

#include "benchmark_program.h"

template <typename Algorithm>
void cub_call(Algorithm algorithm) {
  std::size_t bytes = 0;
  CUDA_CHECK(algorithm(nullptr, bytes));
  const DeviceArray<unsigned char> storage(bytes == 0 ? 1 : bytes);
  CUDA_CHECK(algorithm(storage.data(), bytes));
  CUDA_CHECK(cudaDeviceSynchronize());
}

// What a litmus program of one kernel needs: it includes this, defines the kernel `litmus`, and
// ends with LITMUS(grid, block) or LITMUS_COOPERATIVE(grid, block), which make a main() that
// launches it once.
#pragma once

#include "cells.h"

__global__ void litmus(int* x, int* flag, int* out);

inline int run_litmus(dim3 grid, dim3 block, bool cooperative) {
  Cells cells;
  if (!make_cells(cells)) {
    return 1;
  }
  void* arguments[] = {&cells.x, &cells.flag, &cells.out};
  const void* kernel = reinterpret_cast<const void*>(litmus);
  const cudaError_t launched =
      cooperative ? cudaLaunchCooperativeKernel(kernel, grid, block, arguments, 0, nullptr)
                  : cudaLaunchKernel(kernel, grid, block, arguments, 4096, nullptr);
  if (!succeeded(launched) || !succeeded(cudaDeviceSynchronize())) {
    return 1;
  }
  return print_cells(cells);
}

#define LITMUS(grid, block)                \
  int main() {                             \
    return run_litmus(grid, block, false); \
  }
#define LITMUS_COOPERATIVE(grid, block)   \
  int main() {                            \
    return run_litmus(grid, block, true); \
  }

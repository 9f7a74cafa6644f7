// Two kernels in one stream, the second of which may begin before the first is over, as far as that
// one lets it (programmatic dependent launch).
#pragma once

#include "cells.h"

inline bool launch_with(cudaLaunchAttribute attribute, void (*kernel)(Cells), Cells cells,
                        cudaStream_t stream = nullptr) {
  cudaLaunchConfig_t config{};
  config.gridDim = 1;
  config.blockDim = 64;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  return succeeded(cudaLaunchKernelEx(&config, kernel, cells));
}

inline bool launch_dependent(void (*kernel)(Cells), Cells cells) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  return launch_with(attribute, kernel, cells);
}

inline int run_dependent(void (*first)(Cells), void (*second)(Cells)) {
  Cells cells;
  if (!make_cells(cells)) {
    return 1;
  }
  first<<<1, 64>>>(cells);
  return launch_dependent(second, cells) && succeeded(cudaDeviceSynchronize()) ? print_cells(cells)
                                                                               : 1;
}

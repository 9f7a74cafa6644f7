// What nodes of graphs do, from the runtime's descriptions to the driver's.
#pragma once

#include "emulator/libcudart/driver_calls.h"

namespace barracuda::emulator::runtime {

// The kernel is named by its host stub.
cudaError_t describe(const DriverCalls& calls, const cudaKernelNodeParams& from,
                     CUDA_KERNEL_NODE_PARAMS_v2& parameters);
CUresult describe(const DriverCalls& calls, const cudaMemsetParams& from,
                  CUDA_MEMSET_NODE_PARAMS_v1& parameters);
cudaError_t describe(const DriverCalls& calls, const cudaGraphNodeParams& from,
                     CUgraphNodeParams& parameters);

}  // namespace barracuda::emulator::runtime

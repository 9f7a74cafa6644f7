// What nodes of graphs do, from the runtime's descriptions to the driver's.
#pragma once

#include "emulator/runtime/driver_calls.h"

namespace barracuda::emulator::runtime {

// The kernel is named by its host stub.
cudaError_t describe(const DriverCalls& calls, const cudaKernelNodeParams& from,
                     CUDA_KERNEL_NODE_PARAMS_v2& parameters);
CUDA_MEMSET_NODE_PARAMS_v1 describe(const cudaMemsetParams& from);
cudaError_t describe(const DriverCalls& calls, const cudaGraphNodeParams& from,
                     CUgraphNodeParams& parameters);
// A copy to or from a variable of the program: its address takes the place of its name.
cudaError_t find_place(const void* symbol, std::size_t offset, std::size_t bytes, void*& address);

// Describes the node with what the runtime is given, then calls the driver with it.
template <typename Driver, typename Given, typename Call>
cudaError_t run_described(const Given* given, const Call& call) {
  if (given == nullptr) {
    return note(cudaErrorInvalidValue);
  }
  const DriverCalls& calls = driver_calls();
  if (const CUresult status = enter(calls); status != CUDA_SUCCESS) {
    return note(status);
  }
  Driver parameters{};
  if (const auto status = describe(calls, *given, parameters); static_cast<int>(status) != 0) {
    return note(status);
  }
  return note(call(calls, parameters));
}

}  // namespace barracuda::emulator::runtime

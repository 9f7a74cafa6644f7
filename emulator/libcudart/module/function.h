// Kernels as the program names them: by the host stub that nvcc registers, or by a handle of
// cudaGetKernel, cudaGetFuncBySymbol or cudaLibraryGetKernel.
#pragma once

#include "emulator/libcudart/driver_calls.h"

namespace barracuda::emulator::runtime {

// cudaErrorInvalidDeviceFunction: no such kernel. Notes no error.
cudaError_t find_kernel(const DriverCalls& calls, const void* symbol, CUkernel& kernel);
// The same as a function of the current context.
cudaError_t find_function(const DriverCalls& calls, const void* symbol, CUfunction& function);

CUresult describe(const DriverCalls& calls, const cudaLaunchConfig_t& from, CUlaunchConfig& config);

// A launch of this kernel failed for want of its module.
void note_refused_launch(const void* symbol);

// Finds the function and calls the driver with it.
template <typename Call>
cudaError_t run_with_function(const void* symbol, const Call& call) {
  const DriverCalls& calls = driver_calls();
  if (const CUresult status = enter(calls); status != CUDA_SUCCESS) {
    return note(status);
  }
  CUfunction function = nullptr;
  if (const cudaError_t error = find_function(calls, symbol, function); error != cudaSuccess) {
    return note(error);
  }
  return note(call(calls, function));
}

// The same for a launch: one of a kernel whose module could not be loaded is counted
// (refused_launches).
template <typename Call>
cudaError_t launch_function(const void* symbol, const Call& call) {
  bool is_found = false;
  const cudaError_t error =
      run_with_function(symbol, [&](const DriverCalls& calls, CUfunction function) {
        is_found = true;
        return call(calls, function);
      });
  if (!is_found) {
    note_refused_launch(symbol);
  }
  return error;
}

}  // namespace barracuda::emulator::runtime

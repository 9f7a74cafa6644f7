#include "base/early_return.h"
#include "emulator/libcudart.h"
#include "emulator/libcudart/module/function.h"
#include "emulator/libcudart/module/registry.h"

namespace barracuda::emulator::runtime {
namespace {

bool is_within(const DriverCalls& calls, unsigned extent, CUdevice_attribute limit) {
  int value = 0;
  calls.cuDeviceGetAttribute(&value, limit, 0);
  return extent != 0 && extent <= static_cast<unsigned>(value);
}

// cudart tells wrong dimensions from other wrong values.
bool is_configuration(const DriverCalls& calls, const dim3& grid, const dim3& block) {
  return is_within(calls, grid.x, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X) &&
         is_within(calls, grid.y, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y) &&
         is_within(calls, grid.z, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z) &&
         is_within(calls, block.x, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X) &&
         is_within(calls, block.y, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y) &&
         is_within(calls, block.z, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z) &&
         is_within(calls, block.x * block.y * block.z, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
}

cudaError_t explain(CUresult status, const DriverCalls& calls, const dim3& grid,
                    const dim3& block) {
  if (status == CUDA_ERROR_INVALID_VALUE && !is_configuration(calls, grid, block)) {
    return cudaErrorInvalidConfiguration;
  }
  return static_cast<cudaError_t>(status);
}

cudaError_t launch(const void* symbol, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                   CUstream stream) {
  return launch_function(symbol, [&](const DriverCalls& calls, CUfunction function) {
    const CUresult status =
        calls.cuLaunchKernel(function, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                             static_cast<unsigned>(shared), stream, arguments, nullptr);
    return explain(status, calls, grid, block);
  });
}

// A host function with the runtime's type, called by the driver.
struct StreamCallback {
  cudaStreamCallback_t callback;
  void* data;
};

}  // namespace

cudaError_t find_kernel(const DriverCalls& calls, const void* symbol, CUkernel& kernel) {
  const cudaError_t error = registry().find_kernel(calls, symbol, kernel);
  if (error != cudaErrorInvalidDeviceFunction || symbol == nullptr) {
    return error;
  }
  // Not a host stub: a handle, if the driver knows it.
  auto* const handle = reinterpret_cast<CUkernel>(const_cast<void*>(symbol));
  CUfunction function = nullptr;
  const CUresult status = calls.cuKernelGetFunction(&function, handle);
  if (status == CUDA_ERROR_INVALID_HANDLE || status == CUDA_ERROR_NOT_FOUND) {
    return cudaErrorInvalidDeviceFunction;
  }
  if (status != CUDA_SUCCESS) {
    return static_cast<cudaError_t>(status);
  }
  kernel = handle;
  return cudaSuccess;
}

cudaError_t find_function(const DriverCalls& calls, const void* symbol, CUfunction& function) {
  CUkernel kernel = nullptr;
  RETURN_IF_FAILED(find_kernel(calls, symbol, kernel));
  return static_cast<cudaError_t>(calls.cuKernelGetFunction(&function, kernel));
}

void note_refused_launch(const void* symbol) {
  registry().note_refused_launch(symbol);
}

std::vector<std::pair<std::string, std::uint64_t>> refused_launches() {
  return registry().refused_launches();
}

CUresult describe(const DriverCalls& /*calls*/, const cudaLaunchConfig_t& from,
                  CUlaunchConfig& config) {
  static_assert(sizeof(cudaLaunchAttribute) == sizeof(CUlaunchAttribute));
  config = {.gridDimX = from.gridDim.x,
            .gridDimY = from.gridDim.y,
            .gridDimZ = from.gridDim.z,
            .blockDimX = from.blockDim.x,
            .blockDimY = from.blockDim.y,
            .blockDimZ = from.blockDim.z,
            .sharedMemBytes = static_cast<unsigned>(from.dynamicSmemBytes),
            .hStream = stream_of(from.stream),
            .attrs = reinterpret_cast<CUlaunchAttribute*>(from.attrs),
            .numAttrs = from.numAttrs};
  return CUDA_SUCCESS;
}

cudaError_t cudaGetKernel(cudaKernel_t* result, const void* symbol) {
  RETURN_IF(result == nullptr, note(cudaErrorInvalidValue));
  const DriverCalls& calls = driver_calls();
  if (const CUresult status = enter(calls); status != CUDA_SUCCESS) {
    return note(status);
  }
  CUkernel kernel = nullptr;
  const cudaError_t error = find_kernel(calls, symbol, kernel);
  *result = kernel;
  return note(error);
}

// nvcc's host stub launches with whatever it gets here. Where there is no kernel that is the stub's
// own address, so that the launch fails for the reason that the look-up failed.
cudaError_t __cudaGetKernel(cudaKernel_t* result, const void* host_function) {
  const cudaError_t error = runtime::cudaGetKernel(result, host_function);
  if (error != cudaSuccess && result != nullptr) {
    *result = reinterpret_cast<cudaKernel_t>(const_cast<void*>(host_function));
  }
  return error;
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t* result, const void* symbol) {
  RETURN_IF(result == nullptr, note(cudaErrorInvalidValue));
  return run_with_function(symbol, [&](const DriverCalls& /*calls*/, CUfunction function) {
    *result = function;
    return cudaSuccess;
  });
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                               std::size_t shared, cudaStream_t stream) {
  return launch(kernel, grid, block, arguments, shared, stream_of(stream));
}

cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                                    std::size_t shared, cudaStream_t stream) {
  const PerThreadScope scope;
  return launch(kernel, grid, block, arguments, shared, stream_of(stream));
}

cudaError_t cudaLaunchKernel(const void* symbol, dim3 grid, dim3 block, void** arguments,
                             std::size_t shared, cudaStream_t stream) {
  return launch(symbol, grid, block, arguments, shared, stream_of(stream));
}

cudaError_t cudaLaunchCooperativeKernel(const void* symbol, dim3 grid, dim3 block, void** arguments,
                                        std::size_t shared, cudaStream_t stream) {
  return launch_function(symbol, [&](const DriverCalls& calls, CUfunction function) {
    const CUresult status = calls.cuLaunchCooperativeKernel(
        function, grid.x, grid.y, grid.z, block.x, block.y, block.z, static_cast<unsigned>(shared),
        stream_of(stream), arguments);
    return explain(status, calls, grid, block);
  });
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* symbol,
                                void** arguments) {
  RETURN_IF(config == nullptr, note(cudaErrorInvalidValue));
  return launch_function(symbol, [&](const DriverCalls& calls, CUfunction function) {
    CUlaunchConfig driver_config{};
    describe(calls, *config, driver_config);
    const CUresult status = calls.cuLaunchKernelEx(&driver_config, function, arguments, nullptr);
    return explain(status, calls, config->gridDim, config->blockDim);
  });
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data,
                                  unsigned flags) {
  RETURN_IF(callback == nullptr, note(cudaErrorInvalidValue));
  const auto call = [](CUstream of, CUresult status, void* argument) {
    const std::unique_ptr<StreamCallback> target(static_cast<StreamCallback*>(argument));
    target->callback(of, static_cast<cudaError_t>(status), target->data);
  };
  auto target =
      std::make_unique<StreamCallback>(StreamCallback{.callback = callback, .data = data});
  return run([&](const DriverCalls& calls) {
    const CUresult status = calls.cuStreamAddCallback(stream_of(stream), call, target.get(), flags);
    if (status == CUDA_SUCCESS) {
      static_cast<void>(target.release());  // the callback's now
    }
    return status;
  });
}

}  // namespace barracuda::emulator::runtime

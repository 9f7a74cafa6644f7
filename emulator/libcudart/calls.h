// The runtime functions that are implemented (emulator/libcudart.def), declared with the types that
// CUDA's headers give them: a definition that differs from CUDA's signature does not link.
#pragma once

// The headers then declare every exported name as it is, _v2, _ptsz and _ptds forms included, and
// warn of none.
#define __CUDA_API_VERSION_INTERNAL
#define CUDA_ENABLE_DEPRECATED
#include <cuda.h>
#include <cudaProfiler.h>
#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>

namespace barracuda::emulator::runtime {

// What nvcc's host code calls, as crt/host_runtime.h and crt/device_functions.h declare it.
void** __cudaRegisterFatBinary(void* wrapper);
void __cudaRegisterFatBinaryEnd(void** module);
void __cudaUnregisterFatBinary(void** module);
void __cudaRegisterFunction(void** module, const char* host_function, char* device_function,
                            const char* device_name, int thread_limit, uint3* thread_id,
                            uint3* block_id, dim3* block, dim3* grid, int* warp_size);
void __cudaRegisterVar(void** module, char* host_variable, char* device_address,
                       const char* device_name, int is_extern, std::size_t bytes, int is_constant,
                       int is_global);
void __cudaRegisterManagedVar(void** module, void** host_pointer, char* device_address,
                              const char* device_name, int is_extern, std::size_t bytes,
                              int is_constant, int is_global);
void __cudaRegisterHostVar(void** module, const char* device_name, char* host_variable,
                           std::size_t bytes);
char __cudaInitModule(void** module);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared,
                                     CUstream_st* stream);
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared, void* stream);
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* host_function);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                               std::size_t shared, cudaStream_t stream);
cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                                    std::size_t shared, cudaStream_t stream);

#define FUNCTION(name, ...) decltype(::name) name;
#define FUNCTION_PTSZ(name, ...) FUNCTION(name)
#define FUNCTION_PTDS(name, ...) FUNCTION(name)
#define OTHER(...)
#include "emulator/libcudart.def"

}  // namespace barracuda::emulator::runtime

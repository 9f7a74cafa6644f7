// Copies of boxes between the runtime's description and the driver's.
#pragma once

#include "emulator/libcudart/driver_calls.h"

namespace barracuda::emulator::runtime {

CUresult describe(const DriverCalls& calls, const cudaMemcpy3DParms& from, CUDA_MEMCPY3D& copy);
// Back, for who asks what a node of a graph copies.
CUresult describe(const DriverCalls& calls, const CUDA_MEMCPY3D& from, cudaMemcpy3DParms& copy);
// Bytes in a row.
CUDA_MEMCPY3D describe_row(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind);
CUmemorytype target_type(cudaMemcpyKind kind);
CUmemorytype source_type(cudaMemcpyKind kind);
CUresult run_box_copy(const DriverCalls& calls, const CUDA_MEMCPY3D& copy);

// Bytes of one element.
CUresult element_bytes(const DriverCalls& calls, CUarray array, std::size_t& bytes);

inline CUarray array_of(cudaArray_const_t array) {
  return reinterpret_cast<CUarray>(const_cast<cudaArray_t>(array));
}

}  // namespace barracuda::emulator::runtime

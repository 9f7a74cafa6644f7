// The driver functions that are implemented (emulator/libcuda.def), declared with the types that
// cuda.h gives them: a definition that differs from CUDA's signature does not link.
#pragma once

#include <type_traits>
#include <utility>

// Makes cuda.h declare every exported name as it is, _v2, _ptsz and _ptds forms included.
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <cudaProfiler.h>

#include "base/early_return.h"

namespace barracuda::emulator::driver {

#define FUNCTION(name, ...) decltype(::name) name;
#define FUNCTION_PTSZ(name, ...) FUNCTION(name)
#define FUNCTION_PTDS(name, ...) FUNCTION(name)
#define MISSING(...)
#include "emulator/libcuda.def"

// Gives a call's result, which null is no place for.
template <typename Value>
CUresult store_result(Value* to, std::type_identity_t<Value> value) {
  RETURN_IF(to == nullptr, CUDA_ERROR_INVALID_VALUE);
  *to = std::move(value);
  return CUDA_SUCCESS;
}

}  // namespace barracuda::emulator::driver

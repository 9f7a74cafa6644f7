// The driver functions that are implemented (functions.def), declared with the types that cuda.h
// gives them: a definition that differs from CUDA's signature does not link.
#pragma once

// Makes cuda.h declare every exported name as it is, _v2, _ptsz and _ptds forms included.
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <cudaProfiler.h>

namespace barracuda::emulator::driver {

#define FUNCTION(name) decltype(::name) name;
#include "emulator/driver/functions.def"

}  // namespace barracuda::emulator::driver

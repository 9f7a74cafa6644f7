// What compilers that do not include cooperative_groups.h (numba's) call for a grid's barrier.
// NVIDIA has these functions in libcudadevrt.a, as machine code; declared in
// cuda_device_runtime_api.h.
#include <cooperative_groups.h>

extern "C" __device__ unsigned long long cudaCGGetIntrinsicHandle(cudaCGScope scope) {
  return scope;
}

// The only handle that cudaCGGetIntrinsicHandle is asked for: the grid's.
extern "C" __device__ cudaError_t cudaCGSynchronize(unsigned long long handle, unsigned /*flags*/) {
  if (handle != cudaCGScopeGrid) {
    return cudaErrorNotSupported;
  }
  cooperative_groups::this_grid().sync();
  return cudaSuccess;
}

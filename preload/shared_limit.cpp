#include "preload/shared_limit.h"

#include "preload/hook.h"

namespace barracuda::preload {

std::uint32_t most_dynamic_shared(session::Handle function) {
  static const auto of_function = DRIVER_FUNCTION(cuFuncGetAttribute);
  static const auto of_kernel = DRIVER_FUNCTION(cuKernelGetAttribute);
  static const auto current_device = DRIVER_FUNCTION(cuCtxGetDevice);
  constexpr CUfunction_attribute kMost = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
  int bytes = 0;
  CUdevice device = 0;
  // NOLINTBEGIN(performance-no-int-to-ptr): handles
  const bool is_known =
      of_function(&bytes, kMost, reinterpret_cast<CUfunction>(function)) == CUDA_SUCCESS ||
      (current_device(&device) == CUDA_SUCCESS &&
       of_kernel(&bytes, kMost, reinterpret_cast<CUkernel>(function), device) == CUDA_SUCCESS);
  // NOLINTEND(performance-no-int-to-ptr)
  return is_known && bytes > 0 ? static_cast<std::uint32_t>(bytes) : 0;
}

}  // namespace barracuda::preload

// Copies that return when they are done: they wait for their stream, so what was launched before
// them is over for the host.
#include "preload/hook.h"

namespace barracuda::preload {
namespace {

template <typename... Arguments>
CUresult copy_and_wait(const Original<CUresult(Arguments...)>& original, DefaultStream meaning,
                       Arguments... arguments) {
  const HookScope scope;
  const CUresult status = original(arguments...);
  scope.run([&](session::Session& session) {
    if (status == CUDA_SUCCESS) {
      session.streams().stream_synchronized(
          session.streams().key_of(stream_handle(nullptr, meaning)));
    }
    session.observe(status);
  });
  return status;
}

}  // namespace

CUresult copy(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  static const Original<decltype(copy)> original{"cuMemcpy"};
  return copy_and_wait(original, DefaultStream::kLegacy, to, from, bytes);
}

CUresult copy_ptds(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  static const Original<decltype(copy)> original{"cuMemcpy_ptds"};
  return copy_and_wait(original, DefaultStream::kPerThread, to, from, bytes);
}

CUresult copy_to_device(CUdeviceptr to, const void* from, std::size_t bytes) {
  static const Original<decltype(copy_to_device)> original{"cuMemcpyHtoD_v2"};
  return copy_and_wait(original, DefaultStream::kLegacy, to, from, bytes);
}

CUresult copy_to_device_ptds(CUdeviceptr to, const void* from, std::size_t bytes) {
  static const Original<decltype(copy_to_device)> original{"cuMemcpyHtoD_v2_ptds"};
  return copy_and_wait(original, DefaultStream::kPerThread, to, from, bytes);
}

CUresult copy_to_host(void* to, CUdeviceptr from, std::size_t bytes) {
  static const Original<decltype(copy_to_host)> original{"cuMemcpyDtoH_v2"};
  return copy_and_wait(original, DefaultStream::kLegacy, to, from, bytes);
}

CUresult copy_to_host_ptds(void* to, CUdeviceptr from, std::size_t bytes) {
  static const Original<decltype(copy_to_host)> original{"cuMemcpyDtoH_v2_ptds"};
  return copy_and_wait(original, DefaultStream::kPerThread, to, from, bytes);
}

CUresult copy_2d(const CUDA_MEMCPY2D* copy) {
  static const Original<decltype(copy_2d)> original{"cuMemcpy2D_v2"};
  return copy_and_wait(original, DefaultStream::kLegacy, copy);
}

CUresult copy_2d_ptds(const CUDA_MEMCPY2D* copy) {
  static const Original<decltype(copy_2d)> original{"cuMemcpy2D_v2_ptds"};
  return copy_and_wait(original, DefaultStream::kPerThread, copy);
}

CUresult copy_2d_unaligned(const CUDA_MEMCPY2D* copy) {
  static const Original<decltype(copy_2d_unaligned)> original{"cuMemcpy2DUnaligned_v2"};
  return copy_and_wait(original, DefaultStream::kLegacy, copy);
}

CUresult copy_2d_unaligned_ptds(const CUDA_MEMCPY2D* copy) {
  static const Original<decltype(copy_2d_unaligned)> original{"cuMemcpy2DUnaligned_v2_ptds"};
  return copy_and_wait(original, DefaultStream::kPerThread, copy);
}

CUresult copy_3d(const CUDA_MEMCPY3D* copy) {
  static const Original<decltype(copy_3d)> original{"cuMemcpy3D_v2"};
  return copy_and_wait(original, DefaultStream::kLegacy, copy);
}

CUresult copy_3d_ptds(const CUDA_MEMCPY3D* copy) {
  static const Original<decltype(copy_3d)> original{"cuMemcpy3D_v2_ptds"};
  return copy_and_wait(original, DefaultStream::kPerThread, copy);
}

}  // namespace barracuda::preload

// Copies whose names say that they are synchronous. Whether the host waits for them is another
// matter.
#include "preload/copy_description.h"
#include "preload/submit_copy.h"

namespace barracuda::preload {
namespace {

using session::Session;

constexpr CallForm kForm = CallForm::kSynchronous;

CopySide on_device(CUdeviceptr address) {
  return {.type = CU_MEMORYTYPE_DEVICE, .address = address};
}

CopySide on_host(const void* address) {
  return {.type = CU_MEMORYTYPE_HOST, .address = reinterpret_cast<std::uint64_t>(address)};
}

constexpr CopySide kInArray{.type = CU_MEMORYTYPE_ARRAY, .address = 0};

// One row.
template <typename... Arguments>
CUresult copy_row(const Original<CUresult(Arguments...)>& original, DefaultStream meaning,
                  const CopySide& to, const CopySide& from, std::size_t bytes,
                  Arguments... arguments) {
  return submit_copy(
      original, default_stream(meaning),
      [&](Session& session) { return describe_row(session, to, from, bytes, kForm); },
      arguments...);
}

CUresult copy_box(const Original<decltype(copy_3d)>& original, DefaultStream meaning,
                  const CUDA_MEMCPY3D* copy) {
  return submit_copy(
      original, default_stream(meaning),
      [&](Session& session) { return describe_box(session, *copy, kForm); }, copy);
}

template <typename Copy>
CUresult copy_box(const Original<CUresult(const Copy*)>& original, DefaultStream meaning,
                  const Copy* copy) {
  return submit_copy(
      original, default_stream(meaning),
      [&](Session& session) { return describe_box(session, box_of(*copy), kForm); }, copy);
}

// Comes after all work and before all that is to come.
template <typename... Arguments>
CUresult copy_between_contexts(const Original<CUresult(Arguments...)>& original,
                               Arguments... arguments) {
  const HookScope scope;
  const CUresult status = original(arguments...);
  scope.run([&](Session& session) {
    if (status == CUDA_SUCCESS) {
      session.streams().device_synchronized();
    }
    session.observe(status);
  });
  return status;
}

}  // namespace

CUresult copy(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  static const Original<decltype(copy)> original{"cuMemcpy"};
  return copy_row(original, DefaultStream::kLegacy, on_device(to), on_device(from), bytes, to, from,
                  bytes);
}

CUresult copy_ptds(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  static const Original<decltype(copy)> original{"cuMemcpy_ptds"};
  return copy_row(original, DefaultStream::kPerThread, on_device(to), on_device(from), bytes, to,
                  from, bytes);
}

CUresult copy_between(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                      CUcontext from_context, std::size_t bytes) {
  static const Original<decltype(copy_between)> original{"cuMemcpyPeer"};
  return copy_between_contexts(original, to, to_context, from, from_context, bytes);
}

CUresult copy_between_ptds(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                           CUcontext from_context, std::size_t bytes) {
  static const Original<decltype(copy_between)> original{"cuMemcpyPeer_ptds"};
  return copy_between_contexts(original, to, to_context, from, from_context, bytes);
}

CUresult copy_to_device(CUdeviceptr to, const void* from, std::size_t bytes) {
  static const Original<decltype(copy_to_device)> original{"cuMemcpyHtoD_v2"};
  return copy_row(original, DefaultStream::kLegacy, on_device(to), on_host(from), bytes, to, from,
                  bytes);
}

CUresult copy_to_device_ptds(CUdeviceptr to, const void* from, std::size_t bytes) {
  static const Original<decltype(copy_to_device)> original{"cuMemcpyHtoD_v2_ptds"};
  return copy_row(original, DefaultStream::kPerThread, on_device(to), on_host(from), bytes, to,
                  from, bytes);
}

CUresult copy_to_host(void* to, CUdeviceptr from, std::size_t bytes) {
  static const Original<decltype(copy_to_host)> original{"cuMemcpyDtoH_v2"};
  return copy_row(original, DefaultStream::kLegacy, on_host(to), on_device(from), bytes, to, from,
                  bytes);
}

CUresult copy_to_host_ptds(void* to, CUdeviceptr from, std::size_t bytes) {
  static const Original<decltype(copy_to_host)> original{"cuMemcpyDtoH_v2_ptds"};
  return copy_row(original, DefaultStream::kPerThread, on_host(to), on_device(from), bytes, to,
                  from, bytes);
}

CUresult copy_on_device(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  static const Original<decltype(copy_on_device)> original{"cuMemcpyDtoD_v2"};
  return copy_row(original, DefaultStream::kLegacy, on_device(to), on_device(from), bytes, to, from,
                  bytes);
}

CUresult copy_on_device_ptds(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  static const Original<decltype(copy_on_device)> original{"cuMemcpyDtoD_v2_ptds"};
  return copy_row(original, DefaultStream::kPerThread, on_device(to), on_device(from), bytes, to,
                  from, bytes);
}

CUresult copy_device_to_array(CUarray to, std::size_t offset, CUdeviceptr from, std::size_t bytes) {
  static const Original<decltype(copy_device_to_array)> original{"cuMemcpyDtoA_v2"};
  return copy_row(original, DefaultStream::kLegacy, kInArray, on_device(from), bytes, to, offset,
                  from, bytes);
}

CUresult copy_device_to_array_ptds(CUarray to, std::size_t offset, CUdeviceptr from,
                                   std::size_t bytes) {
  static const Original<decltype(copy_device_to_array)> original{"cuMemcpyDtoA_v2_ptds"};
  return copy_row(original, DefaultStream::kPerThread, kInArray, on_device(from), bytes, to, offset,
                  from, bytes);
}

CUresult copy_array_to_device(CUdeviceptr to, CUarray from, std::size_t offset, std::size_t bytes) {
  static const Original<decltype(copy_array_to_device)> original{"cuMemcpyAtoD_v2"};
  return copy_row(original, DefaultStream::kLegacy, on_device(to), kInArray, bytes, to, from,
                  offset, bytes);
}

CUresult copy_array_to_device_ptds(CUdeviceptr to, CUarray from, std::size_t offset,
                                   std::size_t bytes) {
  static const Original<decltype(copy_array_to_device)> original{"cuMemcpyAtoD_v2_ptds"};
  return copy_row(original, DefaultStream::kPerThread, on_device(to), kInArray, bytes, to, from,
                  offset, bytes);
}

CUresult copy_host_to_array(CUarray to, std::size_t offset, const void* from, std::size_t bytes) {
  static const Original<decltype(copy_host_to_array)> original{"cuMemcpyHtoA_v2"};
  return copy_row(original, DefaultStream::kLegacy, kInArray, on_host(from), bytes, to, offset,
                  from, bytes);
}

CUresult copy_host_to_array_ptds(CUarray to, std::size_t offset, const void* from,
                                 std::size_t bytes) {
  static const Original<decltype(copy_host_to_array)> original{"cuMemcpyHtoA_v2_ptds"};
  return copy_row(original, DefaultStream::kPerThread, kInArray, on_host(from), bytes, to, offset,
                  from, bytes);
}

CUresult copy_array_to_host(void* to, CUarray from, std::size_t offset, std::size_t bytes) {
  static const Original<decltype(copy_array_to_host)> original{"cuMemcpyAtoH_v2"};
  return copy_row(original, DefaultStream::kLegacy, on_host(to), kInArray, bytes, to, from, offset,
                  bytes);
}

CUresult copy_array_to_host_ptds(void* to, CUarray from, std::size_t offset, std::size_t bytes) {
  static const Original<decltype(copy_array_to_host)> original{"cuMemcpyAtoH_v2_ptds"};
  return copy_row(original, DefaultStream::kPerThread, on_host(to), kInArray, bytes, to, from,
                  offset, bytes);
}

CUresult copy_2d(const CUDA_MEMCPY2D* copy) {
  static const Original<decltype(copy_2d)> original{"cuMemcpy2D_v2"};
  return copy_box(original, DefaultStream::kLegacy, copy);
}

CUresult copy_2d_ptds(const CUDA_MEMCPY2D* copy) {
  static const Original<decltype(copy_2d)> original{"cuMemcpy2D_v2_ptds"};
  return copy_box(original, DefaultStream::kPerThread, copy);
}

CUresult copy_2d_unaligned(const CUDA_MEMCPY2D* copy) {
  static const Original<decltype(copy_2d_unaligned)> original{"cuMemcpy2DUnaligned_v2"};
  return copy_box(original, DefaultStream::kLegacy, copy);
}

CUresult copy_2d_unaligned_ptds(const CUDA_MEMCPY2D* copy) {
  static const Original<decltype(copy_2d_unaligned)> original{"cuMemcpy2DUnaligned_v2_ptds"};
  return copy_box(original, DefaultStream::kPerThread, copy);
}

CUresult copy_3d(const CUDA_MEMCPY3D* copy) {
  static const Original<decltype(copy_3d)> original{"cuMemcpy3D_v2"};
  return copy_box(original, DefaultStream::kLegacy, copy);
}

CUresult copy_3d_ptds(const CUDA_MEMCPY3D* copy) {
  static const Original<decltype(copy_3d)> original{"cuMemcpy3D_v2_ptds"};
  return copy_box(original, DefaultStream::kPerThread, copy);
}

CUresult copy_3d_between(const CUDA_MEMCPY3D_PEER* copy) {
  static const Original<decltype(copy_3d_between)> original{"cuMemcpy3DPeer"};
  return copy_box(original, DefaultStream::kLegacy, copy);
}

CUresult copy_3d_between_ptds(const CUDA_MEMCPY3D_PEER* copy) {
  static const Original<decltype(copy_3d_between)> original{"cuMemcpy3DPeer_ptds"};
  return copy_box(original, DefaultStream::kPerThread, copy);
}

}  // namespace barracuda::preload

// Copies in the order of a stream.
#include "preload/copy_description.h"
#include "preload/submit_copy.h"

namespace barracuda::preload {
namespace {

using session::CopyRequest;
using session::HostOrder;
using session::Session;

constexpr CallForm kForm = CallForm::kAsynchronous;

CopySide on_device(CUdeviceptr address) {
  return {.type = CU_MEMORYTYPE_DEVICE, .address = address};
}

CopySide on_host(const void* address) {
  return {.type = CU_MEMORYTYPE_HOST, .address = reinterpret_cast<std::uint64_t>(address)};
}

constexpr CopySide kInArray{.type = CU_MEMORYTYPE_ARRAY, .address = 0};

// One row.
template <typename... Arguments>
CUresult copy_row(const Original<CUresult(Arguments...)>& original, session::Handle stream,
                  const CopySide& to, const CopySide& from, std::size_t bytes,
                  Arguments... arguments) {
  return submit_copy(
      original, stream,
      [&](Session& session) { return describe_row(session, to, from, bytes, kForm); },
      arguments...);
}

CUresult copy_box(const Original<decltype(copy_3d_async)>& original, session::Handle handle,
                  const CUDA_MEMCPY3D* copy, CUstream stream) {
  return submit_copy(
      original, handle, [&](Session& session) { return describe_box(session, *copy, kForm); }, copy,
      stream);
}

template <typename Copy>
CUresult copy_box(const Original<CUresult(const Copy*, CUstream)>& original, session::Handle handle,
                  const Copy* copy, CUstream stream) {
  return submit_copy(
      original, handle,
      [&](Session& session) { return describe_box(session, box_of(*copy), kForm); }, copy, stream);
}

void add(CopyRequest& all, const CopyRequest& more) {
  all.accesses.insert(all.accesses.end(), more.accesses.begin(), more.accesses.end());
  if (more.host_order == HostOrder::kCopy) {
    all.host_order = HostOrder::kCopy;
  }
}

CopyRequest describe_batch(Session& session, const CUdeviceptr* to, const CUdeviceptr* from,
                           const std::size_t* bytes, std::size_t count) {
  CopyRequest all;
  for (std::size_t i = 0; i < count; ++i) {
    add(all, describe_row(session, on_device(to[i]), on_device(from[i]), bytes[i], kForm));
  }
  return all;
}

// Lengths are in elements, whose size an array's descriptor says: between pointers it is a byte.
CopyRequest describe_batch(Session& session, const CUDA_MEMCPY3D_BATCH_OP* operations,
                           std::size_t count) {
  CopyRequest all;
  for (std::size_t i = 0; i < count; ++i) {
    const CUDA_MEMCPY3D_BATCH_OP& each = operations[i];
    if (each.src.type != CU_MEMCPY_OPERAND_TYPE_POINTER ||
        each.dst.type != CU_MEMCPY_OPERAND_TYPE_POINTER) {
      session.problems().add("copies of a 3D batch from or to an array were not checked");
      continue;
    }
    CUDA_MEMCPY3D box{};
    box.srcMemoryType = box.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
    box.srcDevice = each.src.op.ptr.ptr;
    box.srcPitch = each.src.op.ptr.rowLength;
    box.srcHeight = each.src.op.ptr.layerHeight;
    box.dstDevice = each.dst.op.ptr.ptr;
    box.dstPitch = each.dst.op.ptr.rowLength;
    box.dstHeight = each.dst.op.ptr.layerHeight;
    box.WidthInBytes = each.extent.width;
    box.Height = each.extent.height;
    box.Depth = each.extent.depth;
    add(all, describe_box(session, box, kForm));
  }
  return all;
}

template <typename... Arguments>
CUresult copy_rows(const Original<CUresult(Arguments...)>& original, session::Handle handle,
                   const CUdeviceptr* to, const CUdeviceptr* from, const std::size_t* bytes,
                   std::size_t count, Arguments... arguments) {
  return submit_copy(
      original, handle,
      [&](Session& session) { return describe_batch(session, to, from, bytes, count); },
      arguments...);
}

template <typename... Arguments>
CUresult copy_boxes(const Original<CUresult(Arguments...)>& original, session::Handle handle,
                    const CUDA_MEMCPY3D_BATCH_OP* operations, std::size_t count,
                    Arguments... arguments) {
  return submit_copy(
      original, handle,
      [&](Session& session) { return describe_batch(session, operations, count); }, arguments...);
}

}  // namespace

CUresult copy_async(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  static const Original<decltype(copy_async)> original{"cuMemcpyAsync"};
  return copy_row(original, stream_handle(stream, DefaultStream::kLegacy), on_device(to),
                  on_device(from), bytes, to, from, bytes, stream);
}

CUresult copy_async_ptsz(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  static const Original<decltype(copy_async)> original{"cuMemcpyAsync_ptsz"};
  return copy_row(original, stream_handle(stream, DefaultStream::kPerThread), on_device(to),
                  on_device(from), bytes, to, from, bytes, stream);
}

CUresult copy_between_async(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                            CUcontext from_context, std::size_t bytes, CUstream stream) {
  static const Original<decltype(copy_between_async)> original{"cuMemcpyPeerAsync"};
  return copy_row(original, stream_handle(stream, DefaultStream::kLegacy), on_device(to),
                  on_device(from), bytes, to, to_context, from, from_context, bytes, stream);
}

CUresult copy_between_async_ptsz(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                                 CUcontext from_context, std::size_t bytes, CUstream stream) {
  static const Original<decltype(copy_between_async)> original{"cuMemcpyPeerAsync_ptsz"};
  return copy_row(original, stream_handle(stream, DefaultStream::kPerThread), on_device(to),
                  on_device(from), bytes, to, to_context, from, from_context, bytes, stream);
}

CUresult copy_to_device_async(CUdeviceptr to, const void* from, std::size_t bytes,
                              CUstream stream) {
  static const Original<decltype(copy_to_device_async)> original{"cuMemcpyHtoDAsync_v2"};
  return copy_row(original, stream_handle(stream, DefaultStream::kLegacy), on_device(to),
                  on_host(from), bytes, to, from, bytes, stream);
}

CUresult copy_to_device_async_ptsz(CUdeviceptr to, const void* from, std::size_t bytes,
                                   CUstream stream) {
  static const Original<decltype(copy_to_device_async)> original{"cuMemcpyHtoDAsync_v2_ptsz"};
  return copy_row(original, stream_handle(stream, DefaultStream::kPerThread), on_device(to),
                  on_host(from), bytes, to, from, bytes, stream);
}

CUresult copy_to_host_async(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  static const Original<decltype(copy_to_host_async)> original{"cuMemcpyDtoHAsync_v2"};
  return copy_row(original, stream_handle(stream, DefaultStream::kLegacy), on_host(to),
                  on_device(from), bytes, to, from, bytes, stream);
}

CUresult copy_to_host_async_ptsz(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  static const Original<decltype(copy_to_host_async)> original{"cuMemcpyDtoHAsync_v2_ptsz"};
  return copy_row(original, stream_handle(stream, DefaultStream::kPerThread), on_host(to),
                  on_device(from), bytes, to, from, bytes, stream);
}

CUresult copy_on_device_async(CUdeviceptr to, CUdeviceptr from, std::size_t bytes,
                              CUstream stream) {
  static const Original<decltype(copy_on_device_async)> original{"cuMemcpyDtoDAsync_v2"};
  return copy_row(original, stream_handle(stream, DefaultStream::kLegacy), on_device(to),
                  on_device(from), bytes, to, from, bytes, stream);
}

CUresult copy_on_device_async_ptsz(CUdeviceptr to, CUdeviceptr from, std::size_t bytes,
                                   CUstream stream) {
  static const Original<decltype(copy_on_device_async)> original{"cuMemcpyDtoDAsync_v2_ptsz"};
  return copy_row(original, stream_handle(stream, DefaultStream::kPerThread), on_device(to),
                  on_device(from), bytes, to, from, bytes, stream);
}

CUresult copy_host_to_array_async(CUarray to, std::size_t offset, const void* from,
                                  std::size_t bytes, CUstream stream) {
  static const Original<decltype(copy_host_to_array_async)> original{"cuMemcpyHtoAAsync_v2"};
  return copy_row(original, stream_handle(stream, DefaultStream::kLegacy), kInArray, on_host(from),
                  bytes, to, offset, from, bytes, stream);
}

CUresult copy_host_to_array_async_ptsz(CUarray to, std::size_t offset, const void* from,
                                       std::size_t bytes, CUstream stream) {
  static const Original<decltype(copy_host_to_array_async)> original{"cuMemcpyHtoAAsync_v2_ptsz"};
  return copy_row(original, stream_handle(stream, DefaultStream::kPerThread), kInArray,
                  on_host(from), bytes, to, offset, from, bytes, stream);
}

CUresult copy_array_to_host_async(void* to, CUarray from, std::size_t offset, std::size_t bytes,
                                  CUstream stream) {
  static const Original<decltype(copy_array_to_host_async)> original{"cuMemcpyAtoHAsync_v2"};
  return copy_row(original, stream_handle(stream, DefaultStream::kLegacy), on_host(to), kInArray,
                  bytes, to, from, offset, bytes, stream);
}

CUresult copy_array_to_host_async_ptsz(void* to, CUarray from, std::size_t offset,
                                       std::size_t bytes, CUstream stream) {
  static const Original<decltype(copy_array_to_host_async)> original{"cuMemcpyAtoHAsync_v2_ptsz"};
  return copy_row(original, stream_handle(stream, DefaultStream::kPerThread), on_host(to), kInArray,
                  bytes, to, from, offset, bytes, stream);
}

CUresult copy_2d_async(const CUDA_MEMCPY2D* copy, CUstream stream) {
  static const Original<decltype(copy_2d_async)> original{"cuMemcpy2DAsync_v2"};
  return copy_box(original, stream_handle(stream, DefaultStream::kLegacy), copy, stream);
}

CUresult copy_2d_async_ptsz(const CUDA_MEMCPY2D* copy, CUstream stream) {
  static const Original<decltype(copy_2d_async)> original{"cuMemcpy2DAsync_v2_ptsz"};
  return copy_box(original, stream_handle(stream, DefaultStream::kPerThread), copy, stream);
}

CUresult copy_3d_async(const CUDA_MEMCPY3D* copy, CUstream stream) {
  static const Original<decltype(copy_3d_async)> original{"cuMemcpy3DAsync_v2"};
  return copy_box(original, stream_handle(stream, DefaultStream::kLegacy), copy, stream);
}

CUresult copy_3d_async_ptsz(const CUDA_MEMCPY3D* copy, CUstream stream) {
  static const Original<decltype(copy_3d_async)> original{"cuMemcpy3DAsync_v2_ptsz"};
  return copy_box(original, stream_handle(stream, DefaultStream::kPerThread), copy, stream);
}

CUresult copy_3d_between_async(const CUDA_MEMCPY3D_PEER* copy, CUstream stream) {
  static const Original<decltype(copy_3d_between_async)> original{"cuMemcpy3DPeerAsync"};
  return copy_box(original, stream_handle(stream, DefaultStream::kLegacy), copy, stream);
}

CUresult copy_3d_between_async_ptsz(const CUDA_MEMCPY3D_PEER* copy, CUstream stream) {
  static const Original<decltype(copy_3d_between_async)> original{"cuMemcpy3DPeerAsync_ptsz"};
  return copy_box(original, stream_handle(stream, DefaultStream::kPerThread), copy, stream);
}

CUresult copy_batch_with_index(CUdeviceptr* to, CUdeviceptr* from, std::size_t* bytes,
                               std::size_t count, CUmemcpyAttributes* attributes,
                               std::size_t* first_uses, std::size_t attribute_count,
                               std::size_t* failed, CUstream stream) {
  static const Original<decltype(copy_batch_with_index)> original{"cuMemcpyBatchAsync"};
  return copy_rows(original, stream_handle(stream, DefaultStream::kLegacy), to, from, bytes, count,
                   to, from, bytes, count, attributes, first_uses, attribute_count, failed, stream);
}

CUresult copy_batch_with_index_ptsz(CUdeviceptr* to, CUdeviceptr* from, std::size_t* bytes,
                                    std::size_t count, CUmemcpyAttributes* attributes,
                                    std::size_t* first_uses, std::size_t attribute_count,
                                    std::size_t* failed, CUstream stream) {
  static const Original<decltype(copy_batch_with_index)> original{"cuMemcpyBatchAsync_ptsz"};
  return copy_rows(original, stream_handle(stream, DefaultStream::kPerThread), to, from, bytes,
                   count, to, from, bytes, count, attributes, first_uses, attribute_count, failed,
                   stream);
}

CUresult copy_batch(CUdeviceptr* to, CUdeviceptr* from, std::size_t* bytes, std::size_t count,
                    CUmemcpyAttributes* attributes, std::size_t* first_uses,
                    std::size_t attribute_count, CUstream stream) {
  static const Original<decltype(copy_batch)> original{"cuMemcpyBatchAsync_v2"};
  return copy_rows(original, stream_handle(stream, DefaultStream::kLegacy), to, from, bytes, count,
                   to, from, bytes, count, attributes, first_uses, attribute_count, stream);
}

CUresult copy_batch_ptsz(CUdeviceptr* to, CUdeviceptr* from, std::size_t* bytes, std::size_t count,
                         CUmemcpyAttributes* attributes, std::size_t* first_uses,
                         std::size_t attribute_count, CUstream stream) {
  static const Original<decltype(copy_batch)> original{"cuMemcpyBatchAsync_v2_ptsz"};
  return copy_rows(original, stream_handle(stream, DefaultStream::kPerThread), to, from, bytes,
                   count, to, from, bytes, count, attributes, first_uses, attribute_count, stream);
}

CUresult copy_3d_batch_with_index(std::size_t count, CUDA_MEMCPY3D_BATCH_OP* operations,
                                  std::size_t* failed, unsigned long long flags, CUstream stream) {
  static const Original<decltype(copy_3d_batch_with_index)> original{"cuMemcpy3DBatchAsync"};
  return copy_boxes(original, stream_handle(stream, DefaultStream::kLegacy), operations, count,
                    count, operations, failed, flags, stream);
}

CUresult copy_3d_batch_with_index_ptsz(std::size_t count, CUDA_MEMCPY3D_BATCH_OP* operations,
                                       std::size_t* failed, unsigned long long flags,
                                       CUstream stream) {
  static const Original<decltype(copy_3d_batch_with_index)> original{"cuMemcpy3DBatchAsync_ptsz"};
  return copy_boxes(original, stream_handle(stream, DefaultStream::kPerThread), operations, count,
                    count, operations, failed, flags, stream);
}

CUresult copy_3d_batch(std::size_t count, CUDA_MEMCPY3D_BATCH_OP* operations,
                       unsigned long long flags, CUstream stream) {
  static const Original<decltype(copy_3d_batch)> original{"cuMemcpy3DBatchAsync_v2"};
  return copy_boxes(original, stream_handle(stream, DefaultStream::kLegacy), operations, count,
                    count, operations, flags, stream);
}

CUresult copy_3d_batch_ptsz(std::size_t count, CUDA_MEMCPY3D_BATCH_OP* operations,
                            unsigned long long flags, CUstream stream) {
  static const Original<decltype(copy_3d_batch)> original{"cuMemcpy3DBatchAsync_v2_ptsz"};
  return copy_boxes(original, stream_handle(stream, DefaultStream::kPerThread), operations, count,
                    count, operations, flags, stream);
}

}  // namespace barracuda::preload

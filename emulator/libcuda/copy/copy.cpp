#include "base/early_return.h"
#include "emulator/libcuda/context/context.h"
#include "emulator/libcuda/copy/row_copy.h"
#include "emulator/libcuda/stream/work.h"

namespace barracuda::emulator::driver {

CUresult copy_row(const RowSide& to, const RowSide& from, std::size_t bytes, CUstream stream) {
  CUDA_MEMCPY3D box{};
  box.dstMemoryType = to.type;
  box.dstHost = reinterpret_cast<void*>(to.address);
  box.dstDevice = to.address;
  box.dstArray = to.array;
  box.dstXInBytes = to.offset;
  box.srcMemoryType = from.type;
  box.srcHost = reinterpret_cast<const void*>(from.address);
  box.srcDevice = from.address;
  box.srcArray = from.array;
  box.srcXInBytes = from.offset;
  box.WidthInBytes = bytes;
  box.Height = 1;
  box.Depth = 1;
  return submit(stream, CopyWork{box});
}

namespace {

bool are_contexts(CUcontext first, CUcontext second) {
  return find_context(first) != nullptr && find_context(second) != nullptr;
}

}  // namespace

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return copy_row(on_either(to), on_either(from), bytes, stream);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, std::size_t bytes,
                              CUstream stream) {
  return copy_row(on_device(to), on_host(from), bytes, stream);
}

CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return copy_row(on_host(to), on_device(from), bytes, stream);
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes,
                              CUstream stream) {
  return copy_row(on_device(to), on_device(from), bytes, stream);
}

CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                           CUcontext from_context, std::size_t bytes, CUstream stream) {
  RETURN_IF(!are_contexts(to_context, from_context), CUDA_ERROR_INVALID_CONTEXT);
  return driver::cuMemcpyDtoDAsync_v2(to, from, bytes, stream);
}

}  // namespace barracuda::emulator::driver

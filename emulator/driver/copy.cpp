#include "emulator/driver/context.h"
#include "emulator/driver/work.h"

namespace barracuda::emulator::driver {
namespace {

struct Side {
  CUmemorytype type = CU_MEMORYTYPE_DEVICE;
  std::uint64_t address = 0;
};

// Bytes in a row are a box of one row.
CUresult copy_row(const Side& to, const Side& from, std::size_t bytes, CUstream stream) {
  CUDA_MEMCPY3D copy{};
  copy.dstMemoryType = to.type;
  copy.dstHost = reinterpret_cast<void*>(to.address);
  copy.dstDevice = to.address;
  copy.srcMemoryType = from.type;
  copy.srcHost = reinterpret_cast<const void*>(from.address);
  copy.srcDevice = from.address;
  copy.WidthInBytes = bytes;
  copy.Height = 1;
  copy.Depth = 1;
  return submit(stream, CopyWork{copy});
}

CUresult copy_either(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return copy_row({.type = CU_MEMORYTYPE_UNIFIED, .address = to},
                  {.type = CU_MEMORYTYPE_UNIFIED, .address = from}, bytes, stream);
}

CUresult copy_to_device(CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream) {
  return copy_row({.type = CU_MEMORYTYPE_DEVICE, .address = to},
                  {.type = CU_MEMORYTYPE_HOST, .address = reinterpret_cast<std::uint64_t>(from)},
                  bytes, stream);
}

CUresult copy_to_host(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return copy_row({.type = CU_MEMORYTYPE_HOST, .address = reinterpret_cast<std::uint64_t>(to)},
                  {.type = CU_MEMORYTYPE_DEVICE, .address = from}, bytes, stream);
}

CUresult copy_on_device(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return copy_row({.type = CU_MEMORYTYPE_DEVICE, .address = to},
                  {.type = CU_MEMORYTYPE_DEVICE, .address = from}, bytes, stream);
}

bool are_contexts(CUcontext first, CUcontext second) {
  return find_context(first) != nullptr && find_context(second) != nullptr;
}

}  // namespace

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  return copy_either(to, from, bytes, nullptr);
}

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return copy_either(to, from, bytes, stream);
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, std::size_t bytes) {
  return copy_to_device(to, from, bytes, nullptr);
}

CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, std::size_t bytes) {
  return copy_to_host(to, from, bytes, nullptr);
}

CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  return copy_on_device(to, from, bytes, nullptr);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, std::size_t bytes,
                              CUstream stream) {
  return copy_to_device(to, from, bytes, stream);
}

CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return copy_to_host(to, from, bytes, stream);
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes,
                              CUstream stream) {
  return copy_on_device(to, from, bytes, stream);
}

CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                      CUcontext from_context, std::size_t bytes) {
  return driver::cuMemcpyPeerAsync(to, to_context, from, from_context, bytes, nullptr);
}

CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                           CUcontext from_context, std::size_t bytes, CUstream stream) {
  if (!are_contexts(to_context, from_context)) {
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  return copy_on_device(to, from, bytes, stream);
}

}  // namespace barracuda::emulator::driver

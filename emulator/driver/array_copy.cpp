// Copies between a row of bytes and an array of one dimension.
#include "emulator/driver/context.h"
#include "emulator/driver/work.h"

namespace barracuda::emulator::driver {
namespace {

struct Side {
  CUmemorytype type = CU_MEMORYTYPE_DEVICE;
  std::uint64_t address = 0;
  CUarray array = nullptr;
  std::size_t offset = 0;
};

CUresult copy(const Side& to, const Side& from, std::size_t bytes, CUstream stream) {
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

Side in_array(CUarray array, std::size_t offset) {
  return {.type = CU_MEMORYTYPE_ARRAY, .array = array, .offset = offset};
}

Side on_host(const void* address) {
  return {.type = CU_MEMORYTYPE_HOST, .address = reinterpret_cast<std::uint64_t>(address)};
}

Side on_device(CUdeviceptr address) {
  return {.type = CU_MEMORYTYPE_DEVICE, .address = address};
}

}  // namespace

CUresult cuMemcpyDtoA_v2(CUarray to, std::size_t offset, CUdeviceptr from, std::size_t bytes) {
  return copy(in_array(to, offset), on_device(from), bytes, nullptr);
}

CUresult cuMemcpyAtoD_v2(CUdeviceptr to, CUarray from, std::size_t offset, std::size_t bytes) {
  return copy(on_device(to), in_array(from, offset), bytes, nullptr);
}

CUresult cuMemcpyHtoA_v2(CUarray to, std::size_t offset, const void* from, std::size_t bytes) {
  return copy(in_array(to, offset), on_host(from), bytes, nullptr);
}

CUresult cuMemcpyAtoH_v2(void* to, CUarray from, std::size_t offset, std::size_t bytes) {
  return copy(on_host(to), in_array(from, offset), bytes, nullptr);
}

CUresult cuMemcpyAtoA_v2(CUarray to, std::size_t to_offset, CUarray from, std::size_t from_offset,
                         std::size_t bytes) {
  return copy(in_array(to, to_offset), in_array(from, from_offset), bytes, nullptr);
}

CUresult cuMemcpyHtoAAsync_v2(CUarray to, std::size_t offset, const void* from, std::size_t bytes,
                              CUstream stream) {
  return copy(in_array(to, offset), on_host(from), bytes, stream);
}

CUresult cuMemcpyAtoHAsync_v2(void* to, CUarray from, std::size_t offset, std::size_t bytes,
                              CUstream stream) {
  return copy(on_host(to), in_array(from, offset), bytes, stream);
}

}  // namespace barracuda::emulator::driver

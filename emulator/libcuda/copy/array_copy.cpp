// Copies between a row of bytes and an array of one dimension.
#include "emulator/libcuda/copy/row_copy.h"

namespace barracuda::emulator::driver {

CUresult cuMemcpyDtoA_v2(CUarray to, std::size_t offset, CUdeviceptr from, std::size_t bytes) {
  return copy_row(in_array(to, offset), on_device(from), bytes, nullptr);
}

CUresult cuMemcpyAtoD_v2(CUdeviceptr to, CUarray from, std::size_t offset, std::size_t bytes) {
  return copy_row(on_device(to), in_array(from, offset), bytes, nullptr);
}

CUresult cuMemcpyAtoA_v2(CUarray to, std::size_t to_offset, CUarray from, std::size_t from_offset,
                         std::size_t bytes) {
  return copy_row(in_array(to, to_offset), in_array(from, from_offset), bytes, nullptr);
}

CUresult cuMemcpyHtoAAsync_v2(CUarray to, std::size_t offset, const void* from, std::size_t bytes,
                              CUstream stream) {
  return copy_row(in_array(to, offset), on_host(from), bytes, stream);
}

CUresult cuMemcpyAtoHAsync_v2(void* to, CUarray from, std::size_t offset, std::size_t bytes,
                              CUstream stream) {
  return copy_row(on_host(to), in_array(from, offset), bytes, stream);
}

}  // namespace barracuda::emulator::driver

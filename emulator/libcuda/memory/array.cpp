#include "emulator/libcuda/memory/array.h"

#include <algorithm>
#include <cstring>

#include "base/early_return.h"
#include "emulator/libcuda.h"
#include "emulator/libcuda/copy/box.h"
#include "emulator/libcuda/handle_table.h"
#include "emulator/libcuda/stream/stream.h"
#include "emulator/state/host_address.h"

namespace barracuda::emulator::driver {
namespace {

HandleTable<Array, CUarray>& arrays() {
  static auto* const instance = new HandleTable<Array, CUarray>;
  return *instance;
}

// CUDA's limits of compute capability 9.0, the widest of any kind of array (Programming Guide,
// "Technical Specifications").
constexpr std::size_t kMostWidth = 131072, kMostHeight = 65536, kMostDepth = 16384;

CUresult create(CUarray* result, const CUDA_ARRAY3D_DESCRIPTOR_v2& descriptor) {
  RETURN_IF_FAILED(require_context());
  RETURN_IF(descriptor.Width > kMostWidth || descriptor.Height > kMostHeight ||
                descriptor.Depth > kMostDepth,
            CUDA_ERROR_INVALID_VALUE);
  const unsigned channels = descriptor.NumChannels;
  RETURN_IF(result == nullptr || descriptor.Width == 0 ||
                (channels != 1 && channels != 2 && channels != 4),
            CUDA_ERROR_INVALID_VALUE);
  RETURN_IF(
      element_bytes(descriptor.Format, 1) == 0 || (descriptor.Flags & CUDA_ARRAY3D_SPARSE) != 0,
      CUDA_ERROR_NOT_SUPPORTED);
  auto array = std::make_shared<Array>();
  array->context = current_context();
  array->descriptor = descriptor;
  const Expected<std::uint64_t> address =
      machine().memory().allocate(array->bytes(), AllocationKind::kDevice);
  RETURN_IF(!address, CUDA_ERROR_OUT_OF_MEMORY);
  array->address = *address;
  std::memset(host_address<void>(*address), 0, array->bytes());
  *result = arrays().insert(std::move(array));
  return CUDA_SUCCESS;
}

}  // namespace

Array::~Array() {
  if (address != 0) {
    machine().memory().release(address);
  }
}

std::optional<ArrayMemory> memory_of_array(const void* handle) {
  const std::shared_ptr<Array> array = find_array(static_cast<CUarray>(const_cast<void*>(handle)));
  if (array == nullptr) {
    return std::nullopt;
  }
  return ArrayMemory{.address = array->address,
                     .bytes = array->bytes(),
                     .row_bytes = array->row_bytes(),
                     .rows = array->rows()};
}

std::size_t Array::row_bytes() const {
  return descriptor.Width * element_bytes(descriptor.Format, descriptor.NumChannels);
}

std::size_t Array::rows() const {
  return std::max<std::size_t>(descriptor.Height, 1);
}

std::size_t Array::layers() const {
  return std::max<std::size_t>(descriptor.Depth, 1);
}

std::shared_ptr<Array> find_array(CUarray handle) {
  return arrays().find(handle);
}

void release_arrays(const Context& context) {
  arrays().erase_if([&](const Array& array) { return array.context == &context; });
}

CUresult cuArrayCreate_v2(CUarray* result, const CUDA_ARRAY_DESCRIPTOR_v2* descriptor) {
  RETURN_IF(descriptor == nullptr, CUDA_ERROR_INVALID_VALUE);
  return create(result, {.Width = descriptor->Width,
                         .Height = descriptor->Height,
                         .Depth = 0,
                         .Format = descriptor->Format,
                         .NumChannels = descriptor->NumChannels,
                         .Flags = 0});
}

CUresult cuArray3DCreate_v2(CUarray* result, const CUDA_ARRAY3D_DESCRIPTOR_v2* descriptor) {
  return descriptor == nullptr ? CUDA_ERROR_INVALID_VALUE : create(result, *descriptor);
}

CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR_v2* result, CUarray handle) {
  const std::shared_ptr<Array> array = find_array(handle);
  RETURN_IF(array == nullptr, CUDA_ERROR_INVALID_HANDLE);
  return store_result(result, {.Width = array->descriptor.Width,
                               .Height = array->descriptor.Height,
                               .Format = array->descriptor.Format,
                               .NumChannels = array->descriptor.NumChannels});
}

CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR_v2* result, CUarray handle) {
  const std::shared_ptr<Array> array = find_array(handle);
  RETURN_IF(array == nullptr, CUDA_ERROR_INVALID_HANDLE);
  return store_result(result, array->descriptor);
}

CUresult cuArrayDestroy(CUarray handle) {
  finish_all_streams();
  return arrays().extract(handle) == nullptr ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}

}  // namespace barracuda::emulator::driver

#include <cstring>

#include "base/early_return.h"
#include "emulator/libcuda.h"
#include "emulator/libcuda/memory/allocation.h"

namespace barracuda::emulator::driver {
namespace {

template <typename Value>
CUresult answer(void* to, Value value) {
  std::memcpy(to, &value, sizeof value);
  return CUDA_SUCCESS;
}

bool is_host(const AllocationEntry& entry) {
  return entry.kind == AllocationKind::kHost || entry.kind == AllocationKind::kRegisteredHost;
}

bool has_host_address(const AllocationEntry& entry) {
  return is_host(entry) || entry.kind == AllocationKind::kManaged;
}

// The answer for memory that CUDA does not know: zeros, as cuPointerGetAttributes gives them.
CUresult answer_unknown(void* to, CUpointer_attribute attribute) {
  switch (static_cast<int>(attribute)) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
      return answer(to, std::uint64_t{0});
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
      return answer(to, std::uint64_t{0});
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return answer(to, -2);
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return answer(to, 0U);
    case CU_POINTER_ATTRIBUTE_MAPPED:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
      return answer(to, char{0});
    default:
      return CUDA_ERROR_NOT_SUPPORTED;
  }
}

CUresult answer_known(void* to, CUpointer_attribute attribute, const AllocationEntry& entry,
                      CUdeviceptr address) {
  switch (static_cast<int>(attribute)) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      return answer(to, entry.context == nullptr ? nullptr : entry.context->handle());
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return answer(to, is_host(entry) ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE);
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      return answer(to, address);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      return has_host_address(entry) ? answer(to, address) : CUDA_ERROR_INVALID_VALUE;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
      return answer(to, char{0});
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
      return answer(to, entry.id);
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      return answer(to, static_cast<char>(entry.kind == AllocationKind::kManaged));
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return answer(to, 0);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      return answer(to, entry.address);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      return answer(to, entry.bytes);
    case CU_POINTER_ATTRIBUTE_MAPPED:
      return answer(to, char{1});
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
      return answer(to, std::uint64_t{0});
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
      return answer(to, CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE);
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
      return answer(to, entry.pool);
    default:
      return CUDA_ERROR_NOT_SUPPORTED;
  }
}

}  // namespace

CUresult cuPointerGetAttribute(void* data, CUpointer_attribute attribute, CUdeviceptr address) {
  const std::optional<AllocationEntry> entry = find_memory(address);
  RETURN_IF(data == nullptr || !entry, CUDA_ERROR_INVALID_VALUE);
  return answer_known(data, attribute, *entry, address);
}

CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute* attributes, void** data,
                                CUdeviceptr address) {
  RETURN_IF(attributes == nullptr || data == nullptr, CUDA_ERROR_INVALID_VALUE);
  const std::optional<AllocationEntry> entry = find_memory(address);
  for (unsigned index = 0; index < count; ++index) {
    // An attribute that this memory does not have is answered as for unknown memory.
    if (entry && answer_known(data[index], attributes[index], *entry, address) == CUDA_SUCCESS) {
      continue;
    }
    RETURN_IF_FAILED(answer_unknown(data[index], attributes[index]));
  }
  return CUDA_SUCCESS;
}

CUresult cuPointerSetAttribute(const void* value, CUpointer_attribute attribute,
                               CUdeviceptr address) {
  // Copies are synchronous always.
  const bool is_settable = attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS;
  return value != nullptr && is_settable && find_memory(address) ? CUDA_SUCCESS
                                                                 : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace barracuda::emulator::driver

// Advice about managed memory, which is everywhere already: it is kept, for programs ask for it.
#include <algorithm>
#include <span>

#include "base/early_return.h"
#include "emulator/libcuda/memory/allocation.h"
#include "emulator/libcuda/stream/stream.h"

namespace barracuda::emulator::driver {
namespace {

CUresult check_range(CUdeviceptr address, std::size_t bytes) {
  RETURN_IF_FAILED(require_context());
  return bytes != 0 && is_accessible(address, bytes) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUmemLocation location_of(CUdevice device) {
  if (device == CU_DEVICE_CPU) {
    return {.type = CU_MEM_LOCATION_TYPE_HOST, .id = 0};
  }
  return {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device};
}

bool is_location(const CUmemLocation& location) {
  switch (static_cast<int>(location.type)) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
      return location.id == 0;
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
      return true;
    default:
      return false;
  }
}

CUresult advise_range(CUdeviceptr address, std::size_t bytes, CUmem_advise advice,
                      const CUmemLocation& location) {
  RETURN_IF_FAILED(check_range(address, bytes));
  const bool has_location = advice != CU_MEM_ADVISE_SET_READ_MOSTLY &&
                            advice != CU_MEM_ADVISE_UNSET_READ_MOSTLY &&
                            advice != CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION;
  RETURN_IF(advice < CU_MEM_ADVISE_SET_READ_MOSTLY || advice > CU_MEM_ADVISE_UNSET_ACCESSED_BY,
            CUDA_ERROR_INVALID_VALUE);
  RETURN_IF(has_location && !is_location(location), CUDA_ERROR_INVALID_DEVICE);
  const bool is_device = location.type == CU_MEM_LOCATION_TYPE_DEVICE;
  advise(address, [&](MemoryAdvice& known) {
    switch (advice) {
      case CU_MEM_ADVISE_SET_READ_MOSTLY:
      case CU_MEM_ADVISE_UNSET_READ_MOSTLY:
        known.is_read_mostly = advice == CU_MEM_ADVISE_SET_READ_MOSTLY;
        break;
      case CU_MEM_ADVISE_SET_PREFERRED_LOCATION:
        known.preferred = location;
        break;
      case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION:
        known.preferred = {.type = CU_MEM_LOCATION_TYPE_INVALID, .id = 0};
        break;
      case CU_MEM_ADVISE_SET_ACCESSED_BY:
        known.is_accessed_by_device = known.is_accessed_by_device || is_device;
        break;
      case CU_MEM_ADVISE_UNSET_ACCESSED_BY:
        known.is_accessed_by_device = known.is_accessed_by_device && !is_device;
        break;
    }
  });
  return CUDA_SUCCESS;
}

CUresult prefetch(CUdeviceptr address, std::size_t bytes, const CUmemLocation& to,
                  CUstream stream) {
  std::shared_ptr<Stream> found;
  RETURN_IF_FAILED(find_for_work(stream, found));
  RETURN_IF_FAILED(check_range(address, bytes));
  RETURN_IF(!is_location(to), CUDA_ERROR_INVALID_DEVICE);
  advise(address, [&](MemoryAdvice& known) { known.last_prefetch = to; });
  return CUDA_SUCCESS;
}

// A location as the older attributes name it.
int device_of(const CUmemLocation& location) {
  if (location.type == CU_MEM_LOCATION_TYPE_INVALID) {
    return CU_DEVICE_INVALID;
  }
  return location.type == CU_MEM_LOCATION_TYPE_DEVICE ? location.id : CU_DEVICE_CPU;
}

CUresult answer(const MemoryAdvice& advice, CUmem_range_attribute attribute,
                std::span<int> result) {
  switch (attribute) {
    case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
      result[0] = advice.is_read_mostly ? 1 : 0;
      return CUDA_SUCCESS;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
      result[0] = device_of(advice.preferred);
      return CUDA_SUCCESS;
    case CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY:
      std::ranges::fill(result, CU_DEVICE_INVALID);
      result[0] = advice.is_accessed_by_device ? 0 : CU_DEVICE_INVALID;
      return CUDA_SUCCESS;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
      result[0] = device_of(advice.last_prefetch);
      return CUDA_SUCCESS;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE:
      result[0] = static_cast<int>(advice.preferred.type);
      return CUDA_SUCCESS;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID:
      result[0] = advice.preferred.id;
      return CUDA_SUCCESS;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE:
      result[0] = static_cast<int>(advice.last_prefetch.type);
      return CUDA_SUCCESS;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID:
      result[0] = advice.last_prefetch.id;
      return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

}  // namespace

CUresult cuMemAdvise(CUdeviceptr address, std::size_t bytes, CUmem_advise advice, CUdevice device) {
  return advise_range(address, bytes, advice, location_of(device));
}

CUresult cuMemAdvise_v2(CUdeviceptr address, std::size_t bytes, CUmem_advise advice,
                        CUmemLocation location) {
  return advise_range(address, bytes, advice, location);
}

CUresult cuMemPrefetchAsync(CUdeviceptr address, std::size_t bytes, CUdevice to, CUstream stream) {
  return prefetch(address, bytes, location_of(to), stream);
}

CUresult cuMemPrefetchAsync_v2(CUdeviceptr address, std::size_t bytes, CUmemLocation to,
                               unsigned flags, CUstream stream) {
  return flags != 0 ? CUDA_ERROR_INVALID_VALUE : prefetch(address, bytes, to, stream);
}

CUresult cuStreamAttachMemAsync(CUstream stream, CUdeviceptr address, std::size_t /*bytes*/,
                                unsigned /*flags*/) {
  std::shared_ptr<Stream> found;
  const CUresult status = find_for_work(stream, found);
  return status == CUDA_SUCCESS ? check_range(address, 1) : status;
}

CUresult cuMemRangeGetAttribute(void* result, std::size_t result_bytes,
                                CUmem_range_attribute attribute, CUdeviceptr address,
                                std::size_t bytes) {
  RETURN_IF_FAILED(check_range(address, bytes));
  const std::optional<AllocationEntry> entry = find_memory(address);
  const bool is_list = attribute == CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY;
  RETURN_IF(result == nullptr || !entry || entry->kind != AllocationKind::kManaged ||
                (is_list ? result_bytes == 0 || result_bytes % sizeof(int) != 0
                         : result_bytes != sizeof(int)),
            CUDA_ERROR_INVALID_VALUE);
  return answer(entry->advice, attribute,
                std::span(static_cast<int*>(result), result_bytes / sizeof(int)));
}

CUresult cuMemRangeGetAttributes(void** results, std::size_t* result_bytes,
                                 CUmem_range_attribute* attributes, std::size_t count,
                                 CUdeviceptr address, std::size_t bytes) {
  RETURN_IF(results == nullptr || result_bytes == nullptr || attributes == nullptr || count == 0,
            CUDA_ERROR_INVALID_VALUE);
  for (std::size_t index = 0; index < count; ++index) {
    const CUresult status = driver::cuMemRangeGetAttribute(results[index], result_bytes[index],
                                                           attributes[index], address, bytes);
    if (status != CUDA_SUCCESS) {
      return status;
    }
  }
  return CUDA_SUCCESS;
}

}  // namespace barracuda::emulator::driver

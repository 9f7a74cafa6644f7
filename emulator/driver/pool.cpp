#include <algorithm>
#include <array>
#include <cstring>

#include "emulator/driver/allocation.h"
#include "emulator/driver/graph_memory.h"
#include "emulator/driver/handle_table.h"
#include "emulator/driver/stream.h"

namespace barracuda::emulator::driver {
namespace {

// A memory pool keeps nothing back: it only counts.
struct Pool {
  bool is_default = false;
  std::array<std::atomic<std::uint64_t>, CU_MEMPOOL_ATTR_USED_MEM_HIGH + 1> attributes{};
  std::atomic<std::uint64_t> used{0}, used_high{0};
};

struct Pools {
  HandleTable<Pool, CUmemoryPool> live;
  CUmemoryPool default_pool = nullptr;
  std::atomic<CUmemoryPool> current{nullptr};

  Pools() {
    auto pool = std::make_shared<Pool>();
    pool->is_default = true;
    default_pool = live.insert(std::move(pool));
    current = default_pool;
  }
};

Pools& pools() {
  static auto* const instance = new Pools;
  return *instance;
}

// The stream, if work submitted to it becomes a node.
std::shared_ptr<Stream> find_captured(CUstream handle) {
  std::shared_ptr<Stream> stream = find_stream(handle);
  return stream != nullptr && stream->is_capturing ? stream : nullptr;
}

CUresult allocate_in_graph(Stream& stream, CUdeviceptr* result, std::size_t bytes) {
  CUDA_MEM_ALLOC_NODE_PARAMS parameters{};
  parameters.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  parameters.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  parameters.bytesize = bytes;
  CUresult status = CUDA_SUCCESS;
  AllocateWork work{GraphMemory::allocate(parameters, status)};
  if (status == CUDA_SUCCESS) {
    *result = work.memory->address();
    status = capture(stream, std::move(work));
  }
  return status;
}

CUresult allocate_from(CUdeviceptr* result, std::size_t bytes, CUmemoryPool handle,
                       CUstream stream) {
  const std::shared_ptr<Pool> pool = pools().live.find(handle);
  if (result == nullptr || pool == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (const auto captured = find_captured(stream)) {
    return allocate_in_graph(*captured, result, bytes);
  }
  const StreamTurn turn(stream);
  if (turn.status() != CUDA_SUCCESS) {
    return turn.status();
  }
  AllocationEntry entry{.kind = AllocationKind::kDevice, .bytes = bytes, .pool = handle};
  if (const CUresult status = allocate(entry); status != CUDA_SUCCESS) {
    return status;
  }
  pool->used += bytes;
  pool->used_high = std::max(pool->used_high.load(), pool->used.load());
  *result = entry.address;
  return CUDA_SUCCESS;
}

template <typename Value>
CUresult answer(void* to, std::uint64_t value) {
  const auto narrowed = static_cast<Value>(value);
  std::memcpy(to, &narrowed, sizeof narrowed);
  return CUDA_SUCCESS;
}

bool is_flag(CUmemPool_attribute attribute) {
  return attribute <= CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES;
}

bool is_known(CUmemPool_attribute attribute) {
  return attribute >= CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES &&
         attribute <= CU_MEMPOOL_ATTR_USED_MEM_HIGH;
}

// Pools are of device memory only.
CUresult check_place(const CUmemLocation* location, CUmemAllocationType type) {
  if (location == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return location->type == CU_MEM_LOCATION_TYPE_DEVICE && type == CU_MEM_ALLOCATION_TYPE_PINNED
             ? CUDA_SUCCESS
             : CUDA_ERROR_NOT_SUPPORTED;
}

}  // namespace

CUresult cuMemAllocAsync(CUdeviceptr* result, std::size_t bytes, CUstream stream) {
  return allocate_from(result, bytes, pools().current, stream);
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr* result, std::size_t bytes, CUmemoryPool pool,
                                 CUstream stream) {
  return allocate_from(result, bytes, pool, stream);
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  if (const auto captured = find_captured(stream)) {
    return capture(*captured, FreeWork{address});
  }
  {
    const StreamTurn turn(stream);  // given back before release() waits for all streams
    if (turn.status() != CUDA_SUCCESS) {
      return turn.status();
    }
  }
  const std::optional<AllocationEntry> entry = find_allocation(address);
  const CUresult status = release(address, AllocationKind::kDevice);
  if (status == CUDA_SUCCESS && entry) {
    if (const std::shared_ptr<Pool> pool = pools().live.find(entry->pool)) {
      pool->used -= entry->bytes;
    }
  }
  return status;
}

CUresult cuMemPoolCreate(CUmemoryPool* result, const CUmemPoolProps* properties) {
  if (const CUresult status = require_initialized(); status != CUDA_SUCCESS) {
    return status;
  }
  if (result == nullptr || properties == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (properties->handleTypes != CU_MEM_HANDLE_TYPE_NONE ||
      properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE) {
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  *result = pools().live.insert(std::make_shared<Pool>());
  return CUDA_SUCCESS;
}

CUresult cuMemPoolDestroy(CUmemoryPool handle) {
  if (handle == pools().default_pool || pools().live.extract(handle) == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  CUmemoryPool destroyed = handle;
  pools().current.compare_exchange_strong(destroyed, pools().default_pool);
  return CUDA_SUCCESS;
}

CUresult cuMemPoolTrimTo(CUmemoryPool handle, std::size_t /*keep*/) {
  return pools().live.find(handle) == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuMemPoolSetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void* value) {
  const std::shared_ptr<Pool> pool = pools().live.find(handle);
  if (pool == nullptr || value == nullptr || !is_known(attribute)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (attribute == CU_MEMPOOL_ATTR_USED_MEM_HIGH) {
    pool->used_high = pool->used.load();
    return CUDA_SUCCESS;
  }
  std::uint64_t number = 0;
  std::memcpy(&number, value, is_flag(attribute) ? sizeof(int) : sizeof(cuuint64_t));
  pool->attributes.at(static_cast<std::size_t>(attribute)) = number;
  return CUDA_SUCCESS;
}

CUresult cuMemPoolGetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void* value) {
  const std::shared_ptr<Pool> pool = pools().live.find(handle);
  if (pool == nullptr || value == nullptr || !is_known(attribute)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (attribute == CU_MEMPOOL_ATTR_USED_MEM_CURRENT ||
      attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) {
    return answer<cuuint64_t>(value, pool->used);
  }
  if (attribute == CU_MEMPOOL_ATTR_USED_MEM_HIGH ||
      attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH) {
    return answer<cuuint64_t>(value, pool->used_high);
  }
  const std::uint64_t number = pool->attributes.at(static_cast<std::size_t>(attribute));
  return is_flag(attribute) ? answer<int>(value, number) : answer<cuuint64_t>(value, number);
}

CUresult cuMemPoolSetAccess(CUmemoryPool handle, const CUmemAccessDesc* access, std::size_t count) {
  const bool is_valid = pools().live.find(handle) != nullptr && (access != nullptr || count == 0);
  return is_valid ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool handle,
                            CUmemLocation* location) {
  if (flags == nullptr || location == nullptr || pools().live.find(handle) == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* result, CUdevice device) {
  if (result == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (device != 0) {
    return CUDA_ERROR_INVALID_DEVICE;
  }
  *result = pools().default_pool;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetMemPool(CUmemoryPool* result, CUdevice device) {
  if (result == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (device != 0) {
    return CUDA_ERROR_INVALID_DEVICE;
  }
  *result = pools().current;
  return CUDA_SUCCESS;
}

CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool handle) {
  if (device != 0) {
    return CUDA_ERROR_INVALID_DEVICE;
  }
  if (pools().live.find(handle) == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  pools().current = handle;
  return CUDA_SUCCESS;
}

CUresult cuMemGetDefaultMemPool(CUmemoryPool* result, CUmemLocation* location,
                                CUmemAllocationType type) {
  const CUresult status = check_place(location, type);
  return status == CUDA_SUCCESS ? driver::cuDeviceGetDefaultMemPool(result, location->id) : status;
}

CUresult cuMemGetMemPool(CUmemoryPool* result, CUmemLocation* location, CUmemAllocationType type) {
  const CUresult status = check_place(location, type);
  return status == CUDA_SUCCESS ? driver::cuDeviceGetMemPool(result, location->id) : status;
}

CUresult cuMemSetMemPool(CUmemLocation* location, CUmemAllocationType type, CUmemoryPool pool) {
  const CUresult status = check_place(location, type);
  return status == CUDA_SUCCESS ? driver::cuDeviceSetMemPool(location->id, pool) : status;
}

}  // namespace barracuda::emulator::driver

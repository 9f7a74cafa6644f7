#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <mutex>

#include "base/early_return.h"
#include "emulator/libcuda.h"
#include "emulator/libcuda/graph/graph_memory.h"
#include "emulator/libcuda/handle_table.h"
#include "emulator/libcuda/memory/allocation.h"
#include "emulator/libcuda/stream/queue.h"

namespace barracuda::emulator::driver {
namespace {

// Freed memory that its pool gives away again, the newest first, as CUDA's does: a program that
// still uses it meets its next user here too. What a stream freed goes to that stream, else to any,
// for all work is over when its call returns.
class FreedBlocks {
 public:
  FreedBlocks() = default;
  FreedBlocks(const FreedBlocks&) = delete;
  FreedBlocks& operator=(const FreedBlocks&) = delete;

  ~FreedBlocks() { trim(0); }

  // 0: there is none.
  std::uint64_t take(std::uint64_t bytes, std::uint64_t stream, bool from_any_stream) {
    const std::lock_guard lock(mutex_);
    const auto fits = [&](const Block& block, bool any) {
      return block.bytes == Memory::rounded_bytes(bytes) && (any || block.stream == stream);
    };
    auto found =
        std::ranges::find_if(blocks_, [&](const Block& block) { return fits(block, false); });
    if (found == blocks_.end() && from_any_stream) {
      found = std::ranges::find_if(blocks_, [&](const Block& block) { return fits(block, true); });
    }
    if (found == blocks_.end()) {
      return 0;
    }
    const std::uint64_t address = found->address;
    bytes_ -= found->bytes;
    blocks_.erase(found);
    return address;
  }

  void add(const AllocationEntry& entry, std::uint64_t stream) {
    const std::uint64_t bytes = Memory::rounded_bytes(entry.bytes);
    {
      const std::lock_guard lock(mutex_);
      blocks_.push_front({.address = entry.address, .bytes = bytes, .stream = stream});
      bytes_ += bytes;
    }
    trim(kMostKept);
  }

  // Gives up the oldest.
  void trim(std::uint64_t keep) {
    const std::lock_guard lock(mutex_);
    while (bytes_ > keep) {
      machine().memory().discard(blocks_.back().address);
      bytes_ -= blocks_.back().bytes;
      blocks_.pop_back();
    }
  }

 private:
  static constexpr std::uint64_t kMostKept = std::uint64_t{256} << 20;

  struct Block {
    std::uint64_t address = 0, bytes = 0, stream = 0;
  };

  std::mutex mutex_;
  std::deque<Block> blocks_;  // newest first
  std::uint64_t bytes_ = 0;
};

// What it keeps for reuse counts as given up, as it would be at the next synchronisation.
struct Pool {
  bool is_default = false;
  std::array<std::atomic<std::uint64_t>, CU_MEMPOOL_ATTR_USED_MEM_HIGH + 1> attributes{};
  std::atomic<std::uint64_t> used{0}, used_high{0};
  FreedBlocks freed;

  Pool() {
    for (std::size_t flag = CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES;
         flag <= CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES; ++flag) {
      attributes.at(flag) = 1;
    }
  }

  [[nodiscard]] bool gives_to_any_stream() const {
    return attributes[CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC] != 0 ||
           attributes[CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES] != 0;
  }
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

std::uint64_t number_of(CUstream handle) {
  const std::shared_ptr<Stream> stream = find_stream(handle);
  return stream == nullptr ? 0 : stream->id;
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
  RETURN_IF(result == nullptr || pool == nullptr, CUDA_ERROR_INVALID_VALUE);
  if (const auto captured = find_captured(stream)) {
    return allocate_in_graph(*captured, result, bytes);
  }
  std::shared_ptr<Stream> found;
  RETURN_IF_FAILED(find_for_work(stream, found));
  AllocationEntry entry{.kind = AllocationKind::kDevice, .bytes = bytes, .pool = handle};
  entry.address =
      bytes == 0 ? 0 : pool->freed.take(bytes, number_of(stream), pool->gives_to_any_stream());
  const CUresult status = entry.address != 0 ? reuse(entry) : allocate(entry);
  if (status != CUDA_SUCCESS) {
    return status;
  }
  pool->used += bytes;
  pool->used_high = std::max(pool->used_high.load(), pool->used.load());
  *result = entry.address;
  return CUDA_SUCCESS;
}

CUresult free_now(CUdeviceptr address, std::uint64_t stream) {
  AllocationEntry entry;
  const CUresult status = withdraw(address, entry);
  if (entry.address == 0 || entry.pool == nullptr) {
    return status;
  }
  if (const std::shared_ptr<Pool> pool = pools().live.find(entry.pool)) {
    pool->used -= entry.bytes;
    pool->freed.add(entry, stream);
  } else {
    machine().memory().discard(address);  // its pool was destroyed before
  }
  return status;
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
  RETURN_IF(location == nullptr, CUDA_ERROR_INVALID_VALUE);
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
  std::shared_ptr<Stream> found;
  RETURN_IF_FAILED(find_for_work(stream, found));
  const std::optional<AllocationEntry> entry = find_allocation(address);
  if (!entry || entry->address != address || entry->pool == nullptr) {
    return free_now(address, number_of(stream));  // says what is wrong, or waits for all work
  }
  return enqueue(found, Call([=, number = number_of(stream)] { free_now(address, number); }));
}

CUresult cuMemPoolCreate(CUmemoryPool* result, const CUmemPoolProps* properties) {
  RETURN_IF_FAILED(require_initialized());
  RETURN_IF(result == nullptr || properties == nullptr, CUDA_ERROR_INVALID_VALUE);
  RETURN_IF(properties->handleTypes != CU_MEM_HANDLE_TYPE_NONE ||
                properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE,
            CUDA_ERROR_NOT_SUPPORTED);
  *result = pools().live.insert(std::make_shared<Pool>());
  return CUDA_SUCCESS;
}

CUresult cuMemPoolDestroy(CUmemoryPool handle) {
  RETURN_IF(handle == pools().default_pool || pools().live.extract(handle) == nullptr,
            CUDA_ERROR_INVALID_VALUE);
  CUmemoryPool destroyed = handle;
  pools().current.compare_exchange_strong(destroyed, pools().default_pool);
  return CUDA_SUCCESS;
}

CUresult cuMemPoolTrimTo(CUmemoryPool handle, std::size_t keep) {
  const std::shared_ptr<Pool> pool = pools().live.find(handle);
  RETURN_IF(pool == nullptr, CUDA_ERROR_INVALID_VALUE);
  const std::uint64_t used = pool->used;
  pool->freed.trim(keep > used ? keep - used : 0);
  return CUDA_SUCCESS;
}

CUresult cuMemPoolSetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void* value) {
  const std::shared_ptr<Pool> pool = pools().live.find(handle);
  RETURN_IF(pool == nullptr || value == nullptr || !is_known(attribute), CUDA_ERROR_INVALID_VALUE);
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
  RETURN_IF(pool == nullptr || value == nullptr || !is_known(attribute), CUDA_ERROR_INVALID_VALUE);
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
  RETURN_IF(flags == nullptr || location == nullptr || pools().live.find(handle) == nullptr,
            CUDA_ERROR_INVALID_VALUE);
  *flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* result, CUdevice device) {
  RETURN_IF(result == nullptr, CUDA_ERROR_INVALID_VALUE);
  RETURN_IF(device != 0, CUDA_ERROR_INVALID_DEVICE);
  *result = pools().default_pool;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetMemPool(CUmemoryPool* result, CUdevice device) {
  RETURN_IF(result == nullptr, CUDA_ERROR_INVALID_VALUE);
  RETURN_IF(device != 0, CUDA_ERROR_INVALID_DEVICE);
  *result = pools().current;
  return CUDA_SUCCESS;
}

CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool handle) {
  RETURN_IF(device != 0, CUDA_ERROR_INVALID_DEVICE);
  RETURN_IF(pools().live.find(handle) == nullptr, CUDA_ERROR_INVALID_VALUE);
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

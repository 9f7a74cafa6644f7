#include "emulator/libcuda/memory/mapping.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <map>
#include <mutex>
#include <span>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/align.h"
#include "base/early_return.h"
#include "emulator/libcuda.h"
#include "emulator/libcuda/handle_table.h"
#include "emulator/libcuda/memory/allocation.h"
#include "emulator/libcuda/stream/stream.h"

namespace barracuda::emulator::driver {
namespace {

constexpr std::size_t kGranularity = 2U << 20;

// A file without a name, so that it can be mapped more than once.
struct PhysicalMemory {
  int file = -1;
  std::size_t bytes = 0;
  CUmemAllocationProp properties{};
  std::atomic<unsigned> references{1};

  PhysicalMemory() = default;

  ~PhysicalMemory() {
    if (file >= 0) {
      close(file);
    }
  }

  PhysicalMemory(const PhysicalMemory&) = delete;
  PhysicalMemory& operator=(const PhysicalMemory&) = delete;
};

struct Mapping {
  std::shared_ptr<PhysicalMemory> memory;
  AllocationEntry entry;  // without a context: not accessible
  CUmemAccess_flags access = CU_MEM_ACCESS_FLAGS_PROT_NONE;
};

using MemoryTable = HandleTable<PhysicalMemory, CUmemGenericAllocationHandle>;

struct VirtualMemory {
  std::mutex mutex;
  std::map<CUdeviceptr, std::size_t> reserved;
  std::map<CUdeviceptr, Mapping> mappings;
  MemoryTable memories;
};

VirtualMemory& virtual_memory() {
  static auto* const instance = new VirtualMemory;
  return *instance;
}

void* host(CUdeviceptr address) {
  return std::bit_cast<void*>(address);
}

bool is_aligned(CUdeviceptr address, std::size_t bytes) {
  return bytes != 0 && bytes % kGranularity == 0 && address % kGranularity == 0;
}

// Puts the range back to what cuMemAddressReserve made of it.
bool clear(CUdeviceptr address, std::size_t bytes) {
  return mmap(host(address), bytes, PROT_NONE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) != MAP_FAILED;
}

void take_access(Mapping& mapping) {
  if (mapping.entry.context != nullptr) {
    give_back(mapping.entry);
    mapping.entry.context = nullptr;
  }
  mapping.access = CU_MEM_ACCESS_FLAGS_PROT_NONE;
}

// Memory that may only be read is not protected from a kernel's writes.
void give_access(Mapping& mapping, CUmemAccess_flags access) {
  mprotect(host(mapping.entry.address), mapping.entry.bytes, PROT_READ | PROT_WRITE);
  if (mapping.entry.context == nullptr) {
    add_mapping(mapping.entry);
  }
  mapping.access = access;
}

// The mappings that make up the range exactly; empty if they do not.
std::vector<Mapping*> mappings_of(VirtualMemory& all, CUdeviceptr address, std::size_t bytes) {
  std::vector<Mapping*> found;
  const CUdeviceptr end = address + bytes;
  for (auto next = all.mappings.find(address); next != all.mappings.end() && next->first == address;
       ++next) {
    found.push_back(&next->second);
    address += next->second.entry.bytes;
    if (address >= end) {
      break;
    }
  }
  return address == end ? found : std::vector<Mapping*>{};
}

bool is_reserved(const VirtualMemory& all, CUdeviceptr address, std::size_t bytes) {
  auto range = all.reserved.upper_bound(address);
  if (range == all.reserved.begin()) {
    return false;
  }
  --range;
  return address - range->first <= range->second &&
         bytes <= range->second - (address - range->first);
}

bool is_mapped(const VirtualMemory& all, CUdeviceptr address, std::size_t bytes) {
  const auto after = all.mappings.lower_bound(address + bytes);
  if (after == all.mappings.begin()) {
    return false;
  }
  const Mapping& before = std::prev(after)->second;
  return before.entry.address + before.entry.bytes > address;
}

CUresult check_properties(const CUmemAllocationProp* properties) {
  RETURN_IF(properties == nullptr || properties->type != CU_MEM_ALLOCATION_TYPE_PINNED,
            CUDA_ERROR_INVALID_VALUE);
  const bool is_device = properties->location.type == CU_MEM_LOCATION_TYPE_DEVICE;
  const bool is_host = properties->location.type == CU_MEM_LOCATION_TYPE_HOST ||
                       properties->location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA ||
                       properties->location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
  RETURN_IF((is_device && properties->location.id != 0) || (!is_device && !is_host),
            CUDA_ERROR_INVALID_DEVICE);
  return (properties->requestedHandleTypes & ~CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) == 0
             ? CUDA_SUCCESS
             : CUDA_ERROR_NOT_SUPPORTED;
}

}  // namespace

void release_mappings(const Context& context) {
  VirtualMemory& all = virtual_memory();
  const std::lock_guard lock(all.mutex);
  for (auto& [address, mapping] : all.mappings) {
    if (mapping.entry.context == &context) {
      take_access(mapping);
    }
  }
}

CUresult cuMemAddressReserve(CUdeviceptr* result, std::size_t bytes, std::size_t alignment,
                             CUdeviceptr wanted, unsigned long long flags) {
  RETURN_IF(result == nullptr || bytes == 0 || bytes % kGranularity != 0 || flags != 0 ||
                (alignment & (alignment - 1)) != 0,
            CUDA_ERROR_INVALID_VALUE);
  const std::size_t aligned = std::max(alignment, kGranularity);
  void* const memory = mmap(host(wanted), bytes + aligned, PROT_NONE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  RETURN_IF(memory == MAP_FAILED, CUDA_ERROR_OUT_OF_MEMORY);
  const auto start = reinterpret_cast<CUdeviceptr>(memory);
  const CUdeviceptr address = align_up(start, CUdeviceptr{aligned});
  if (address != start) {
    munmap(memory, address - start);
  }
  if (const std::size_t tail = start + aligned - address; tail != 0) {
    munmap(host(address + bytes), tail);
  }
  VirtualMemory& all = virtual_memory();
  const std::lock_guard lock(all.mutex);
  all.reserved[address] = bytes;
  *result = address;
  return CUDA_SUCCESS;
}

CUresult cuMemAddressFree(CUdeviceptr address, std::size_t bytes) {
  VirtualMemory& all = virtual_memory();
  const std::lock_guard lock(all.mutex);
  const auto range = all.reserved.find(address);
  RETURN_IF(range == all.reserved.end() || range->second != bytes || is_mapped(all, address, bytes),
            CUDA_ERROR_INVALID_VALUE);
  munmap(host(address), bytes);
  all.reserved.erase(range);
  return CUDA_SUCCESS;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle* result, std::size_t bytes,
                     const CUmemAllocationProp* properties, unsigned long long flags) {
  RETURN_IF_FAILED(check_properties(properties));
  RETURN_IF(result == nullptr || bytes == 0 || bytes % kGranularity != 0 || flags != 0,
            CUDA_ERROR_INVALID_VALUE);
  auto memory = std::make_shared<PhysicalMemory>();
  memory->file = memfd_create("barracuda device memory", MFD_CLOEXEC);
  memory->bytes = bytes;
  memory->properties = *properties;
  RETURN_IF(bytes > machine().memory().total_bytes() || memory->file < 0 ||
                ftruncate(memory->file, static_cast<off_t>(bytes)) != 0,
            CUDA_ERROR_OUT_OF_MEMORY);
  *result = virtual_memory().memories.insert(std::move(memory));
  return CUDA_SUCCESS;
}

// Mappings keep the memory.
CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  const std::shared_ptr<PhysicalMemory> memory = virtual_memory().memories.find(handle);
  RETURN_IF(memory == nullptr, CUDA_ERROR_INVALID_VALUE);
  if (--memory->references == 0) {
    virtual_memory().memories.extract(handle);
  }
  return CUDA_SUCCESS;
}

CUresult cuMemMap(CUdeviceptr address, std::size_t bytes, std::size_t offset,
                  CUmemGenericAllocationHandle handle, unsigned long long flags) {
  VirtualMemory& all = virtual_memory();
  const std::shared_ptr<PhysicalMemory> memory = all.memories.find(handle);
  const std::lock_guard lock(all.mutex);
  RETURN_IF(memory == nullptr || flags != 0 || !is_aligned(address, bytes) ||
                offset % kGranularity != 0 || offset > memory->bytes ||
                bytes > memory->bytes - offset || !is_reserved(all, address, bytes) ||
                is_mapped(all, address, bytes),
            CUDA_ERROR_INVALID_VALUE);
  RETURN_IF(mmap(host(address), bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, memory->file,
                 static_cast<off_t>(offset)) == MAP_FAILED,
            CUDA_ERROR_OUT_OF_MEMORY);
  all.mappings[address] = {
      .memory = memory,
      .entry = {.kind = AllocationKind::kDevice, .address = address, .bytes = bytes}};
  return CUDA_SUCCESS;
}

CUresult cuMemUnmap(CUdeviceptr address, std::size_t bytes) {
  finish_all_streams();
  VirtualMemory& all = virtual_memory();
  const std::lock_guard lock(all.mutex);
  const std::vector<Mapping*> found = mappings_of(all, address, bytes);
  RETURN_IF(found.empty(), CUDA_ERROR_INVALID_VALUE);
  for (Mapping* const mapping : found) {
    take_access(*mapping);
    const CUdeviceptr start = mapping->entry.address;
    RETURN_IF(!clear(start, mapping->entry.bytes), CUDA_ERROR_OPERATING_SYSTEM);
    all.mappings.erase(start);
  }
  return CUDA_SUCCESS;
}

CUresult cuMemSetAccess(CUdeviceptr address, std::size_t bytes, const CUmemAccessDesc* access,
                        std::size_t count) {
  VirtualMemory& all = virtual_memory();
  const std::lock_guard lock(all.mutex);
  const std::vector<Mapping*> found = mappings_of(all, address, bytes);
  RETURN_IF(found.empty() || access == nullptr || count == 0, CUDA_ERROR_INVALID_VALUE);
  for (const CUmemAccessDesc& wanted : std::span(access, count)) {
    if (wanted.location.type != CU_MEM_LOCATION_TYPE_DEVICE) {
      continue;  // the host can use what the device can
    }
    RETURN_IF(wanted.location.id != 0, CUDA_ERROR_INVALID_DEVICE);
    for (Mapping* const mapping : found) {
      if (wanted.flags == CU_MEM_ACCESS_FLAGS_PROT_NONE) {
        take_access(*mapping);
        mprotect(host(mapping->entry.address), mapping->entry.bytes, PROT_NONE);
      } else {
        give_access(*mapping, wanted.flags);
      }
    }
  }
  return CUDA_SUCCESS;
}

CUresult cuMemGetAccess(unsigned long long* flags, const CUmemLocation* location,
                        CUdeviceptr address) {
  RETURN_IF(flags == nullptr || location == nullptr, CUDA_ERROR_INVALID_VALUE);
  VirtualMemory& all = virtual_memory();
  const std::lock_guard lock(all.mutex);
  RETURN_IF(!is_mapped(all, address, 1), CUDA_ERROR_INVALID_VALUE);
  *flags = std::prev(all.mappings.upper_bound(address))->second.access;
  return CUDA_SUCCESS;
}

CUresult cuMemGetAllocationGranularity(std::size_t* result, const CUmemAllocationProp* properties,
                                       CUmemAllocationGranularity_flags /*option*/) {
  RETURN_IF(result == nullptr, CUDA_ERROR_INVALID_VALUE);
  *result = kGranularity;
  return check_properties(properties);
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* result,
                                                CUmemGenericAllocationHandle handle) {
  const std::shared_ptr<PhysicalMemory> memory = virtual_memory().memories.find(handle);
  RETURN_IF(result == nullptr || memory == nullptr, CUDA_ERROR_INVALID_VALUE);
  *result = memory->properties;
  return CUDA_SUCCESS;
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* result, void* address) {
  VirtualMemory& all = virtual_memory();
  const std::lock_guard lock(all.mutex);
  const auto start = reinterpret_cast<CUdeviceptr>(address);
  RETURN_IF(result == nullptr || !is_mapped(all, start, 1), CUDA_ERROR_INVALID_VALUE);
  const std::shared_ptr<PhysicalMemory>& memory =
      std::prev(all.mappings.upper_bound(start))->second.memory;
  ++memory->references;
  *result = all.memories.insert(memory);  // again, if the program has released it
  return CUDA_SUCCESS;
}

CUresult cuMemExportToShareableHandle(void* result, CUmemGenericAllocationHandle handle,
                                      CUmemAllocationHandleType type, unsigned long long flags) {
  const std::shared_ptr<PhysicalMemory> memory = virtual_memory().memories.find(handle);
  RETURN_IF(result == nullptr || memory == nullptr || flags != 0 ||
                (memory->properties.requestedHandleTypes & type) == 0,
            CUDA_ERROR_INVALID_VALUE);
  const int file = dup(memory->file);
  RETURN_IF(file < 0, CUDA_ERROR_OPERATING_SYSTEM);
  *static_cast<int*>(result) = file;
  return CUDA_SUCCESS;
}

// The descriptor is in the pointer itself, and stays the caller's.
CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* result, void* from,
                                        CUmemAllocationHandleType type) {
  struct stat about{};
  const int file = static_cast<int>(reinterpret_cast<std::intptr_t>(from));
  RETURN_IF(result == nullptr || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ||
                fstat(file, &about) != 0,
            CUDA_ERROR_INVALID_VALUE);
  auto memory = std::make_shared<PhysicalMemory>();
  memory->file = dup(file);
  memory->bytes = static_cast<std::size_t>(about.st_size);
  memory->properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  memory->properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  memory->properties.requestedHandleTypes = type;
  RETURN_IF(memory->file < 0, CUDA_ERROR_OPERATING_SYSTEM);
  *result = virtual_memory().memories.insert(std::move(memory));
  return CUDA_SUCCESS;
}

}  // namespace barracuda::emulator::driver

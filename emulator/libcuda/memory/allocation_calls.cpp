#include <algorithm>

#include "base/align.h"
#include "base/early_return.h"
#include "emulator/libcuda.h"
#include "emulator/libcuda/memory/allocation.h"
#include "emulator/libcuda/stream/capture.h"

namespace barracuda::emulator::driver {
namespace {

constexpr std::size_t kPitchAlignment = 512;

// Outside of streams, which a thread that captures one must not do by mistake.
CUresult allocate_now(AllocationEntry& entry) {
  const CUresult status = check_unsafe_call();
  return status == CUDA_SUCCESS ? allocate(entry) : status;
}

CUresult release_now(std::uint64_t address, AllocationKind kind) {
  const CUresult status = check_unsafe_call();
  return status == CUDA_SUCCESS ? release(address, kind) : status;
}

CUresult allocate_host(void** result, std::size_t bytes, unsigned flags) {
  RETURN_IF(result == nullptr, CUDA_ERROR_INVALID_VALUE);
  AllocationEntry entry{.kind = AllocationKind::kHost, .bytes = bytes, .flags = flags};
  RETURN_IF_FAILED(allocate_now(entry));
  *result = reinterpret_cast<void*>(entry.address);
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuMemGetInfo_v2(std::size_t* free_bytes, std::size_t* total_bytes) {
  RETURN_IF(free_bytes == nullptr || total_bytes == nullptr, CUDA_ERROR_INVALID_VALUE);
  const Memory& memory = machine().memory();
  *total_bytes = memory.total_bytes();
  *free_bytes = memory.total_bytes() - std::min(memory.total_bytes(), memory.used_bytes());
  return CUDA_SUCCESS;
}

CUresult cuMemAlloc_v2(CUdeviceptr* result, std::size_t bytes) {
  RETURN_IF(result == nullptr, CUDA_ERROR_INVALID_VALUE);
  AllocationEntry entry{.kind = AllocationKind::kDevice, .bytes = bytes};
  RETURN_IF_FAILED(allocate_now(entry));
  *result = entry.address;
  return CUDA_SUCCESS;
}

CUresult cuMemAllocPitch_v2(CUdeviceptr* result, std::size_t* pitch, std::size_t width,
                            std::size_t height, unsigned element_bytes) {
  RETURN_IF(pitch == nullptr || (element_bytes != 4 && element_bytes != 8 && element_bytes != 16),
            CUDA_ERROR_INVALID_VALUE);
  *pitch = align_up(width, kPitchAlignment);
  return driver::cuMemAlloc_v2(result, *pitch * height);
}

CUresult cuMemAllocManaged(CUdeviceptr* result, std::size_t bytes, unsigned flags) {
  RETURN_IF(result == nullptr || (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST),
            CUDA_ERROR_INVALID_VALUE);
  AllocationEntry entry{.kind = AllocationKind::kManaged, .bytes = bytes, .flags = flags};
  RETURN_IF_FAILED(allocate_now(entry));
  *result = entry.address;
  return CUDA_SUCCESS;
}

CUresult cuMemFree_v2(CUdeviceptr address) {
  if (address == 0) {
    return require_context();
  }
  const std::optional<AllocationEntry> entry = find_allocation(address);
  const bool is_managed = entry && entry->kind == AllocationKind::kManaged;
  return release_now(address, is_managed ? AllocationKind::kManaged : AllocationKind::kDevice);
}

CUresult cuMemAllocHost_v2(void** result, std::size_t bytes) {
  return allocate_host(result, bytes, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
}

CUresult cuMemHostAlloc(void** result, std::size_t bytes, unsigned flags) {
  constexpr unsigned kKnown =
      CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
  RETURN_IF((flags & ~kKnown) != 0, CUDA_ERROR_INVALID_VALUE);
  return allocate_host(result, bytes, flags | CU_MEMHOSTALLOC_DEVICEMAP);
}

CUresult cuMemFreeHost(void* address) {
  return release_now(reinterpret_cast<std::uint64_t>(address), AllocationKind::kHost);
}

CUresult cuMemHostRegister_v2(void* address, std::size_t bytes, unsigned flags) {
  return register_host(address, bytes, flags);
}

CUresult cuMemHostUnregister(void* address) {
  return release_now(reinterpret_cast<std::uint64_t>(address), AllocationKind::kRegisteredHost);
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* result, void* address, unsigned flags) {
  const std::optional<AllocationEntry> entry =
      find_allocation(reinterpret_cast<std::uint64_t>(address));
  RETURN_IF(result == nullptr || flags != 0 || !entry || entry->kind == AllocationKind::kDevice,
            CUDA_ERROR_INVALID_VALUE);
  *result = reinterpret_cast<CUdeviceptr>(address);
  return CUDA_SUCCESS;
}

CUresult cuMemHostGetFlags(unsigned* flags, void* address) {
  const std::optional<AllocationEntry> entry =
      find_allocation(reinterpret_cast<std::uint64_t>(address));
  RETURN_IF(
      flags == nullptr || !entry ||
          (entry->kind != AllocationKind::kHost && entry->kind != AllocationKind::kRegisteredHost),
      CUDA_ERROR_INVALID_VALUE);
  *flags = entry->flags;
  return CUDA_SUCCESS;
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr* base, std::size_t* bytes, CUdeviceptr address) {
  const std::optional<Allocation> found = machine().memory().find(address);
  RETURN_IF(!found, CUDA_ERROR_NOT_FOUND);
  if (base != nullptr) {
    *base = found->address;
  }
  if (bytes != nullptr) {
    *bytes = found->bytes;
  }
  return CUDA_SUCCESS;
}

}  // namespace barracuda::emulator::driver

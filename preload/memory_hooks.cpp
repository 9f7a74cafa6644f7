// Allocations: reports name them, and what is freed is forgotten before its bytes are used again.
#include "preload/hook.h"

namespace barracuda::preload {
namespace {

using session::MemoryRange;
using session::Session;

std::uint64_t address_of(const void* memory) {
  return reinterpret_cast<std::uint64_t>(memory);
}

// Calls the driver for memory, and then notes what `described` says of it.
template <auto Hook, typename Describe, typename... Arguments>
CUresult allocate(const char* description, const Describe& describe, Arguments... arguments) {
  return call_and_note_success<Hook>(
      [&](Session& session) { session.memory().allocated(describe(), description); }, arguments...);
}

// Frees memory once nothing can touch it any more.
template <auto Hook, typename... Arguments>
CUresult free_memory(std::uint64_t address, Arguments... arguments) {
  return note_and_call<Hook>([&](Session& session) { session.memory().before_free(address); },
                             arguments...);
}

template <auto Hook>
CUresult free_in_stream(CUdeviceptr address, CUstream stream) {
  return note_and_call<Hook>(
      [&](Session& session) {
        session.memory().before_stream_free(address, stream_handle(stream));
      },
      address, stream);
}

template <auto Hook>
CUresult allocate_async(CUdeviceptr* address, std::size_t bytes, CUstream stream) {
  return call_and_note_success<Hook>(
      [&](Session& session) {
        session.memory().stream_allocated({.address = *address, .bytes = bytes},
                                          stream_handle(stream), "cudaMallocAsync");
      },
      address, bytes, stream);
}

template <auto Hook>
CUresult allocate_from_pool(CUdeviceptr* address, std::size_t bytes, CUmemoryPool pool,
                            CUstream stream) {
  return call_and_note_success<Hook>(
      [&](Session& session) {
        session.memory().stream_allocated({.address = *address, .bytes = bytes},
                                          stream_handle(stream), "cudaMallocFromPoolAsync");
      },
      address, bytes, pool, stream);
}

}  // namespace

CUresult cuMemAlloc_v2(CUdeviceptr* address, std::size_t bytes) {
  return allocate<&cuMemAlloc_v2>(
      "cudaMalloc", [&] { return MemoryRange{.address = *address, .bytes = bytes}; }, address,
      bytes);
}

CUresult cuMemAllocPitch_v2(CUdeviceptr* address, std::size_t* pitch, std::size_t width,
                            std::size_t height, unsigned element_bytes) {
  return allocate<&cuMemAllocPitch_v2>(
      "cudaMallocPitch", [&] { return MemoryRange{.address = *address, .bytes = *pitch * height}; },
      address, pitch, width, height, element_bytes);
}

CUresult cuMemAllocManaged(CUdeviceptr* address, std::size_t bytes, unsigned flags) {
  return allocate<&cuMemAllocManaged>(
      "managed memory", [&] { return MemoryRange{.address = *address, .bytes = bytes}; }, address,
      bytes, flags);
}

CUresult cuMemAllocHost_v2(void** address, std::size_t bytes) {
  return allocate<&cuMemAllocHost_v2>(
      "pinned host memory",
      [&] { return MemoryRange{.address = address_of(*address), .bytes = bytes}; }, address, bytes);
}

CUresult cuMemHostAlloc(void** address, std::size_t bytes, unsigned flags) {
  return allocate<&cuMemHostAlloc>(
      "pinned host memory",
      [&] { return MemoryRange{.address = address_of(*address), .bytes = bytes}; }, address, bytes,
      flags);
}

CUresult cuMemHostRegister_v2(void* address, std::size_t bytes, unsigned flags) {
  return allocate<&cuMemHostRegister_v2>(
      "registered host memory",
      [&] { return MemoryRange{.address = address_of(address), .bytes = bytes}; }, address, bytes,
      flags);
}

CUresult cuMemHostUnregister(void* address) {
  return free_memory<&cuMemHostUnregister>(address_of(address), address);
}

CUresult cuMemAllocAsync(CUdeviceptr* address, std::size_t bytes, CUstream stream) {
  return allocate_async<&cuMemAllocAsync>(address, bytes, stream);
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr* address, std::size_t bytes, CUmemoryPool pool,
                                 CUstream stream) {
  return allocate_from_pool<&cuMemAllocFromPoolAsync>(address, bytes, pool, stream);
}

CUresult cuMemFree_v2(CUdeviceptr address) {
  return free_memory<&cuMemFree_v2>(address, address);
}

CUresult cuMemFreeHost(void* address) {
  return free_memory<&cuMemFreeHost>(address_of(address), address);
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  return free_in_stream<&cuMemFreeAsync>(address, stream);
}

CUresult cuMemMap(CUdeviceptr address, std::size_t bytes, std::size_t offset,
                  CUmemGenericAllocationHandle handle, unsigned long long flags) {
  return allocate<&cuMemMap>(
      "cuMemMap", [&] { return MemoryRange{.address = address, .bytes = bytes}; }, address, bytes,
      offset, handle, flags);
}

CUresult cuMemUnmap(CUdeviceptr address, std::size_t bytes) {
  return free_memory<&cuMemUnmap>(address, address, bytes);
}

}  // namespace barracuda::preload

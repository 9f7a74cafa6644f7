// Allocations: reports name them, and what is freed is forgotten before its bytes are used again.
#include <utility>

#include "preload/hook.h"

namespace barracuda::preload {
namespace {

using session::Session;

void note_allocation(const HookScope& scope, CUresult status, std::uint64_t address,
                     std::size_t bytes, const char* description) {
  if (status == CUDA_SUCCESS) {
    scope.run([&](Session& session) {
      session.allocated({.address = address, .bytes = bytes}, description);
    });
  }
}

std::uint64_t address_of(const void* memory) {
  return reinterpret_cast<std::uint64_t>(memory);
}

// `submit` makes the driver's call once nothing can touch the memory any more.
template <typename Submit>
CUresult free_memory(std::uint64_t address, const Submit& submit) {
  const HookScope scope;
  scope.run([&](Session& session) { session.before_free(address); });
  return submit();
}

CUresult free_in_stream(const Original<decltype(memory_free_async)>& original, CUdeviceptr address,
                        CUstream stream, DefaultStream meaning) {
  const HookScope scope;
  scope.run([&](Session& session) {
    session.before_stream_free(address, stream_handle(stream, meaning));
  });
  return original(address, stream);
}

struct StreamOf {
  CUstream stream;
  DefaultStream meaning;
};

// `submit` makes the driver's call.
template <typename Submit>
CUresult allocate_in_stream(const CUdeviceptr* address, std::size_t bytes, StreamOf place,
                            const char* function, const Submit& submit) {
  const HookScope scope;
  const CUresult status = submit();
  if (status == CUDA_SUCCESS) {
    scope.run([&](Session& session) {
      session.stream_allocated({.address = *address, .bytes = bytes},
                               stream_handle(place.stream, place.meaning), function);
    });
  }
  return status;
}

CUresult allocate_async(const Original<decltype(memory_allocate_async)>& original,
                        CUdeviceptr* address, std::size_t bytes, StreamOf place) {
  return allocate_in_stream(address, bytes, place, "cudaMallocAsync",
                            [&] { return original(address, bytes, place.stream); });
}

CUresult allocate_from_pool(const Original<decltype(memory_allocate_from_pool)>& original,
                            CUdeviceptr* address, std::size_t bytes, CUmemoryPool pool,
                            StreamOf place) {
  return allocate_in_stream(address, bytes, place, "cudaMallocFromPoolAsync",
                            [&] { return original(address, bytes, pool, place.stream); });
}

}  // namespace

CUresult memory_allocate(CUdeviceptr* address, std::size_t bytes) {
  static const OriginalOf<&memory_allocate> original;
  const HookScope scope;
  const CUresult status = original(address, bytes);
  if (status == CUDA_SUCCESS) {
    note_allocation(scope, status, *address, bytes, "cudaMalloc");
  }
  return status;
}

CUresult memory_allocate_pitch(CUdeviceptr* address, std::size_t* pitch, std::size_t width,
                               std::size_t height, unsigned element_bytes) {
  static const OriginalOf<&memory_allocate_pitch> original;
  const HookScope scope;
  const CUresult status = original(address, pitch, width, height, element_bytes);
  if (status == CUDA_SUCCESS) {
    note_allocation(scope, status, *address, *pitch * height, "cudaMallocPitch");
  }
  return status;
}

CUresult memory_allocate_managed(CUdeviceptr* address, std::size_t bytes, unsigned flags) {
  static const OriginalOf<&memory_allocate_managed> original;
  const HookScope scope;
  const CUresult status = original(address, bytes, flags);
  if (status == CUDA_SUCCESS) {
    note_allocation(scope, status, *address, bytes, "managed memory");
  }
  return status;
}

CUresult memory_allocate_host(void** address, std::size_t bytes) {
  static const OriginalOf<&memory_allocate_host> original;
  const HookScope scope;
  const CUresult status = original(address, bytes);
  if (status == CUDA_SUCCESS) {
    note_allocation(scope, status, address_of(*address), bytes, "pinned host memory");
  }
  return status;
}

CUresult host_allocate(void** address, std::size_t bytes, unsigned flags) {
  static const OriginalOf<&host_allocate> original;
  const HookScope scope;
  const CUresult status = original(address, bytes, flags);
  if (status == CUDA_SUCCESS) {
    note_allocation(scope, status, address_of(*address), bytes, "pinned host memory");
  }
  return status;
}

CUresult host_register(void* address, std::size_t bytes, unsigned flags) {
  static const OriginalOf<&host_register> original;
  const HookScope scope;
  const CUresult status = original(address, bytes, flags);
  note_allocation(scope, status, address_of(address), bytes, "registered host memory");
  return status;
}

CUresult host_unregister(void* address) {
  static const OriginalOf<&host_unregister> original;
  return free_memory(address_of(address), [&] { return original(address); });
}

CUresult memory_allocate_async(CUdeviceptr* address, std::size_t bytes, CUstream stream) {
  static const OriginalOf<&memory_allocate_async> original;
  return allocate_async(original, address, bytes, {stream, DefaultStream::kLegacy});
}

CUresult memory_allocate_async_ptsz(CUdeviceptr* address, std::size_t bytes, CUstream stream) {
  static const OriginalOf<&memory_allocate_async_ptsz> original;
  return allocate_async(original, address, bytes, {stream, DefaultStream::kPerThread});
}

CUresult memory_allocate_from_pool(CUdeviceptr* address, std::size_t bytes, CUmemoryPool pool,
                                   CUstream stream) {
  static const OriginalOf<&memory_allocate_from_pool> original;
  return allocate_from_pool(original, address, bytes, pool, {stream, DefaultStream::kLegacy});
}

CUresult memory_allocate_from_pool_ptsz(CUdeviceptr* address, std::size_t bytes, CUmemoryPool pool,
                                        CUstream stream) {
  static const OriginalOf<&memory_allocate_from_pool_ptsz> original;
  return allocate_from_pool(original, address, bytes, pool, {stream, DefaultStream::kPerThread});
}

CUresult memory_free(CUdeviceptr address) {
  static const OriginalOf<&memory_free> original;
  return free_memory(address, [&] { return original(address); });
}

CUresult memory_free_host(void* address) {
  static const OriginalOf<&memory_free_host> original;
  return free_memory(address_of(address), [&] { return original(address); });
}

CUresult memory_free_async(CUdeviceptr address, CUstream stream) {
  static const OriginalOf<&memory_free_async> original;
  return free_in_stream(original, address, stream, DefaultStream::kLegacy);
}

CUresult memory_free_async_ptsz(CUdeviceptr address, CUstream stream) {
  static const OriginalOf<&memory_free_async_ptsz> original;
  return free_in_stream(original, address, stream, DefaultStream::kPerThread);
}

CUresult memory_map(CUdeviceptr address, std::size_t bytes, std::size_t offset,
                    CUmemGenericAllocationHandle handle, unsigned long long flags) {
  static const OriginalOf<&memory_map> original;
  const HookScope scope;
  const CUresult status = original(address, bytes, offset, handle, flags);
  note_allocation(scope, status, address, bytes, "cuMemMap");
  return status;
}

CUresult memory_unmap(CUdeviceptr address, std::size_t bytes) {
  static const OriginalOf<&memory_unmap> original;
  return free_memory(address, [&] { return original(address, bytes); });
}

}  // namespace barracuda::preload

#include "preload/pinned_memory.h"

#include <cstring>
#include <sys/mman.h>

#include "base/align.h"

namespace barracuda::preload {
namespace {

constexpr std::size_t kLargePage = std::size_t{2} << 20;

// Of Linux 5.14, which Debian 12's headers may not name. Where it is not known, the first access is
// what takes the page.
constexpr int kPopulateWrite = 23;

// Of large pages, where the system gives them to those who ask.
std::byte* map_pages(std::size_t bytes, bool now) {
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return nullptr;
  }
  if (madvise(memory, bytes, MADV_DONTFORK) != 0) {
    munmap(memory, bytes);
    return nullptr;
  }
  (void)madvise(memory, bytes, MADV_HUGEPAGE);
  if (now) {
    (void)madvise(memory, bytes, kPopulateWrite);
  }
  return static_cast<std::byte*>(memory);
}

}  // namespace

std::byte* PinnedMemory::register_pages(std::size_t bytes, bool now) {
  std::byte* const memory = map_pages(bytes, now);
  if (memory == nullptr) {
    return nullptr;
  }
  if (register_(memory, bytes, CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP) ==
      CUDA_SUCCESS) {
    CUdeviceptr address = 0;
    if (device_pointer_(&address, memory, 0) == CUDA_SUCCESS &&
        address == reinterpret_cast<CUdeviceptr>(memory)) {
      const std::scoped_lock lock(mutex_);
      pages_.emplace(memory, bytes);
      return memory;
    }
    unregister_(memory);
  }
  munmap(memory, bytes);
  return nullptr;
}

std::byte* PinnedMemory::allocate(std::size_t bytes, bool now) {
  if (bytes >= kLargePage) {
    std::byte* const pages = register_pages(align_up(bytes, kLargePage), now);
    if (pages != nullptr) {
      return pages;
    }
  }
  void* memory = nullptr;
  if (host_allocate_(&memory, bytes, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP) !=
      CUDA_SUCCESS) {
    return nullptr;
  }
  std::memset(memory, 0, bytes);
  return static_cast<std::byte*>(memory);
}

void PinnedMemory::free(std::byte* memory) {
  std::unique_lock lock(mutex_);
  const auto found = pages_.find(memory);
  if (found == pages_.end()) {
    lock.unlock();
    free_host_(memory);
    return;
  }
  const std::size_t bytes = found->second;
  pages_.erase(found);
  lock.unlock();
  unregister_(memory);
  munmap(memory, bytes);
}

}  // namespace barracuda::preload

// Storage for the pages of shadow memory, in chunks of which the address of a page tells its own.
// Sixteen threads that touch memory for the first time would queue in malloc
// (docs/decisions/shadow-pages.md).
#pragma once

#include <cstddef>
#include <vector>

#include <tbb/spin_mutex.h>

namespace barracuda::detector {

// Several threads may use it at once.
class PagePool {
 public:
  static constexpr std::size_t kPageBytes = 4096;

  PagePool() = default;
  // All that was taken was given back.
  ~PagePool();
  PagePool(const PagePool&) = delete;
  PagePool& operator=(const PagePool&) = delete;

  // Storage of kPageBytes, aligned to as many; throws std::bad_alloc.
  [[nodiscard]] void* take();
  // To the pool that it is of. A chunk without pages goes back to the system, unless it is the last
  // with room.
  static void give_back(void* page) noexcept;

 private:
  struct Chunk;

  tbb::spin_mutex mutex_;
  std::vector<Chunk*> with_room_;  // pages are taken of the last
  std::size_t chunks_ = 0;         // these and the full ones
};

}  // namespace barracuda::detector

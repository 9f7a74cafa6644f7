#include "host_detector/shadow/page_pool.h"

#include <cstdint>
#include <new>
#include <sys/mman.h>
#include <utility>

namespace barracuda::detector {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{1} << 21;

}  // namespace

// Lies in the place of its first page; the address of a page tells its chunk.
struct PagePool::Chunk {
  static constexpr std::size_t kPages = kChunkBytes / kPageBytes - 1;

  struct Gap {
    Gap* next = nullptr;
  };

  explicit Chunk(PagePool& owner) : pool(owner) {}

  static Chunk& map(PagePool& pool);

  static Chunk& of(void* page) {
    return *reinterpret_cast<Chunk*>(reinterpret_cast<std::uintptr_t>(page) & ~(kChunkBytes - 1));
  }

  void unmap() { munmap(this, kChunkBytes); }

  [[nodiscard]] bool is_full() const { return used == kPages; }

  void* take() {
    ++used;
    if (gaps != nullptr) {
      return std::exchange(gaps, gaps->next);
    }
    return reinterpret_cast<std::byte*>(this) + ++touched * kPageBytes;
  }

  void give_back(void* page) {
    --used;
    gaps = new (page) Gap{gaps};
  }

  PagePool& pool;
  std::size_t used = 0;
  std::size_t touched = 0;  // those behind were never taken
  Gap* gaps = nullptr;
};

// The system aligns to small pages: what is too much on both sides goes back.
PagePool::Chunk& PagePool::Chunk::map(PagePool& pool) {
  void* const mapped = mmap(nullptr, 2 * kChunkBytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) {
    throw std::bad_alloc();
  }
  auto* const start = static_cast<std::byte*>(mapped);
  const std::size_t before = -reinterpret_cast<std::uintptr_t>(start) & (kChunkBytes - 1);
  if (before != 0) {
    munmap(start, before);
  }
  munmap(start + before + kChunkBytes, kChunkBytes - before);
  return *new (start + before) Chunk(pool);
}

PagePool::~PagePool() {
  for (Chunk* chunk : with_room_) {
    chunk->unmap();
  }
}

void* PagePool::take() {
  const tbb::spin_mutex::scoped_lock lock(mutex_);
  if (with_room_.empty()) {
    with_room_.reserve(chunks_ + 1);  // give_back() must not fail
    with_room_.push_back(&Chunk::map(*this));
    ++chunks_;
  }
  Chunk& chunk = *with_room_.back();
  void* const page = chunk.take();
  if (chunk.is_full()) {
    with_room_.pop_back();
  }
  return page;
}

void PagePool::give_back(void* page) noexcept {
  Chunk& chunk = Chunk::of(page);
  PagePool& pool = chunk.pool;
  const tbb::spin_mutex::scoped_lock lock(pool.mutex_);
  const bool was_full = chunk.is_full();
  chunk.give_back(page);
  if (was_full) {
    pool.with_room_.push_back(&chunk);
  } else if (chunk.used == 0 && pool.with_room_.size() > 1) {
    std::erase(pool.with_room_, &chunk);
    --pool.chunks_;
    chunk.unmap();
  }
}

}  // namespace barracuda::detector

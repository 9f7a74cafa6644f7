// Memory for the pages of shadow memory. It is had from the system in ever larger pieces, filled in
// at once, since a fault for each page costs more than what is then done with it. Given back only
// as a whole.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <vector>

#include <sys/mman.h>

namespace barracuda::detector {

template <typename Page>
class PagePool {
 public:
  struct Return {
    PagePool* pool;

    void operator()(Page* page) const {
      page->~Page();
      pool->free_.push_back(page);
    }
  };

  using Pointer = std::unique_ptr<Page, Return>;

  PagePool() = default;

  // All pages were returned.
  ~PagePool() {
    for (const Piece& piece : pieces_) {
      ::munmap(piece.start, piece.bytes);
    }
  }

  PagePool(const PagePool&) = delete;
  PagePool& operator=(const PagePool&) = delete;

  // Throws std::bad_alloc.
  Pointer take() {
    if (free_.empty()) {
      add_piece();
    }
    Page* const page = new (free_.back()) Page;
    free_.pop_back();
    return Pointer(page, Return{this});
  }

 private:
  static constexpr std::size_t kFirstBytes = std::size_t{32} << 10;
  static constexpr std::size_t kMostBytes = std::size_t{4} << 20;

  struct Piece {
    void* start;
    std::size_t bytes;
  };

  void add_piece() {
    const std::size_t bytes =
        pieces_.empty() ? kFirstBytes : std::min(kMostBytes, pieces_.back().bytes * 2);
    void* const start =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) {
      throw std::bad_alloc();
    }
    ::madvise(start, bytes, MADV_HUGEPAGE);
#ifdef MADV_POPULATE_WRITE
    ::madvise(start, bytes, MADV_POPULATE_WRITE);  // an older system refuses, and faults
#endif
    pieces_.push_back({.start = start, .bytes = bytes});
    const std::size_t pages = bytes / sizeof(Page);
    for (std::size_t index = pages; index-- > 0;) {
      free_.push_back(static_cast<std::byte*>(start) + index * sizeof(Page));
    }
  }

  std::vector<Piece> pieces_;
  std::vector<void*> free_;
};

}  // namespace barracuda::detector

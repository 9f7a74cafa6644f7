// Shadow of one address space, by blocks of 128 bytes, made on first touch.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>
#include <tbb/spin_mutex.h>

#include "host_detector/shadow/block.h"

namespace barracuda::detector {

// Several threads may visit it at once; a block has one visitor at a time.
class ShadowMemory {
 public:
  // One thread's: has the block that it was given last for itself, until it asks for another or
  // goes.
  class Visitor;

  // How often visitors had to wait for each other.
  [[nodiscard]] std::uint64_t contentions() const {
    return contentions_.load(std::memory_order_relaxed);
  }

  // Not while another thread visits.
  void forget(std::uint64_t address, std::uint64_t bytes);
  // Of each cell the bytes that choose(start of its block, cell) names. True if any are left.
  using Choice = std::function<Bytes(std::uint64_t, const Cell&)>;
  bool forget(std::uint64_t address, std::uint64_t bytes, const Choice& choose);

  // Calls visit(start of the block, cell, bytes of the block in question) for the cells that
  // touch bytes from `address` on. Costs nothing for pages that were never touched.
  template <typename Visit>
  void look_at(std::uint64_t address, std::uint64_t bytes, Visit visit) const;

 private:
  static constexpr int kPageShift = 13;
  static constexpr std::uint64_t kPageBytes = std::uint64_t{1} << kPageShift;
  static constexpr std::size_t kPageBlocks = kPageBytes / kBlockBytes;
  static constexpr int kShardsLog2 = 8;
  static_assert(kPageBlocks * kBlockBytes == kPageBytes);
  using Page = std::array<Block, kPageBlocks>;

  // The pages that a thread found last, so that it finds them without touching what others write.
  struct RecentPages {
    static constexpr int kCountLog2 = 8;

    struct Found {
      std::uint64_t number = 0;
      Page* page = nullptr;
    };

    std::uint64_t generation = 0;  // of the memory that they are of
    std::array<Found, std::size_t{1} << kCountLog2> found{};

    // Arrays often lie a power of two apart.
    [[nodiscard]] Found& place_of(std::uint64_t page) {
      return found[page * 0x9E3779B97F4A7C15ULL >> (64 - kCountLog2)];
    }
  };

  // The pages whose numbers hash alike.
  struct alignas(kLineBytes) Shard {
    tbb::spin_mutex mutex;  // of `pages`, not of what they point to
    boost::unordered_flat_map<std::uint64_t, std::unique_ptr<Page>> pages;
  };

  static std::uint64_t next_generation();
  // This thread's, of this memory as it is now.
  [[nodiscard]] RecentPages& recent_pages() const;
  Page& find_or_make(std::uint64_t number);
  static constexpr std::uint64_t kFewPages = 4096;
  // Calls visit(number, page) for the pages from number `first` on that were ever touched.
  template <typename Visit>
  void for_each_page(std::uint64_t first, std::uint64_t past, Visit visit) const;
  template <typename Visit>
  static void look_at_page(std::uint64_t number, const Page& page, std::uint64_t address,
                           std::uint64_t end, Visit visit);

  struct Range {
    std::uint64_t start = 0, end = 0;
  };

  static std::size_t shard_of(std::uint64_t page) {
    return static_cast<std::size_t>((page * 0x9E3779B97F4A7C15ULL) >> (64 - kShardsLog2));
  }

  // True if nothing of the page is left.
  static bool forget_in(Page& page, std::uint64_t number, const Range& range);
  // Calls visit(start, block, bytes) for the blocks of the page that the range touches.
  template <typename Visit>
  static void for_each_block(Page& page, std::uint64_t number, const Range& range, Visit visit);

  std::array<Shard, std::size_t{1} << kShardsLog2> shards_;
  std::uint64_t generation_ =
      next_generation();  // changes when pages go; no two memories share one
  std::atomic<std::uint64_t> contentions_{0};
};

class ShadowMemory::Visitor {
 public:
  explicit Visitor(ShadowMemory& memory) : memory_(memory), recent_(memory.recent_pages()) {}

  // The block that holds `address`.
  Block& block(std::uint64_t address) {
    const std::uint64_t number = address >> kPageShift;
    RecentPages::Found& recent = recent_.place_of(number);
    if (recent.page == nullptr || recent.number != number) {
      recent = {.number = number, .page = &memory_.find_or_make(number)};
    }
    Block& wanted = (*recent.page)[(address >> kBlockShift) % kPageBlocks];
    if (&wanted != block_) {
      take(wanted);
    }
    return wanted;
  }

 private:
  void take(Block& block);

  ShadowMemory& memory_;
  RecentPages& recent_;
  Block* block_ = nullptr;
  tbb::spin_mutex::scoped_lock lock_;
};

template <typename Visit>
void ShadowMemory::for_each_page(std::uint64_t first, std::uint64_t past, Visit visit) const {
  if (past - first > kFewPages) {
    for (const Shard& shard : shards_) {
      for (const auto& [number, page] : shard.pages) {
        if (number >= first && number < past) {
          visit(number, *page);
        }
      }
    }
    return;
  }
  for (std::uint64_t number = first; number < past; ++number) {
    const auto& pages = shards_[shard_of(number)].pages;
    if (const auto page = pages.find(number); page != pages.end()) {
      visit(number, *page->second);
    }
  }
}

template <typename Visit>
void ShadowMemory::look_at_page(std::uint64_t number, const Page& page, std::uint64_t address,
                                std::uint64_t end, Visit visit) {
  const std::uint64_t page_start = number << kPageShift;
  const std::uint64_t first = std::max(address, page_start);
  const std::uint64_t last = std::min(end, page_start + kPageBytes);
  for (std::uint64_t at = first; at < last;) {
    const std::uint64_t start = at & ~std::uint64_t{kBlockBytes - 1};
    const std::uint64_t stop = std::min(last, start + kBlockBytes);
    const Bytes bytes =
        Bytes::range(static_cast<std::uint32_t>(at - start), static_cast<std::uint32_t>(stop - at));
    page[(start >> kBlockShift) % kPageBlocks].look_at([&](const Cell& cell) {
      if (!(cell.bytes & bytes).none()) {
        visit(start, cell, bytes);
      }
    });
    at = stop;
  }
}

template <typename Visit>
void ShadowMemory::look_at(std::uint64_t address, std::uint64_t bytes, Visit visit) const {
  const std::uint64_t end = address + bytes;
  for_each_page(address >> kPageShift, (end + kPageBytes - 1) >> kPageShift,
                [&](std::uint64_t number, const Page& page) {
                  look_at_page(number, page, address, end, visit);
                });
}

// Shadow of the shared memory of one CTA: small, dense, from offset 0.
class SharedShadow {
 public:
  static constexpr std::uint64_t kLimit = std::uint64_t{1} << 20;  // no device has more

  [[nodiscard]] Block& block(std::uint64_t offset);
  // Calls visit(start of its block, cell) for the cells of this phase.
  template <typename Visit>
  void look_at(Visit visit) const;

  // All that was done happens before all that will be: nothing is left to hold that against.
  void begin_phase() {
    ++phase_;
    DEBUG_ASSERT(is_valid());
  }

  [[nodiscard]] bool is_valid() const;

 private:
  struct Touched {
    std::unique_ptr<Block> block;
    std::uint32_t phase = 0;  // of the cells
  };

  std::vector<Touched> blocks_;
  std::uint32_t phase_ = 0;
};

template <typename Visit>
void SharedShadow::look_at(Visit visit) const {
  for (std::size_t index = 0; index < blocks_.size(); ++index) {
    const Touched& touched = blocks_[index];
    if (touched.block != nullptr && touched.phase == phase_) {
      touched.block->look_at([&](const Cell& cell) { visit(index << kBlockShift, cell); });
    }
  }
}

}  // namespace barracuda::detector

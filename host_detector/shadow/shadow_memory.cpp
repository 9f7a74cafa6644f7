#include "host_detector/shadow/shadow_memory.h"

#include <algorithm>

namespace barracuda::detector {
void ShadowMemory::Visitor::take(Block& block) {
  if (block_ != nullptr) {
    lock_.release();
  }
  block_ = &block;
  if (!lock_.try_acquire(block.mutex())) {
    memory_.contentions_.fetch_add(1, std::memory_order_relaxed);
    lock_.acquire(block.mutex());
  }
}

ShadowMemory::Page& ShadowMemory::find_or_make(std::uint64_t number) {
  Shard& shard = shards_[shard_of(number)];
  const tbb::spin_mutex::scoped_lock lock(shard.mutex);
  std::unique_ptr<Page>& page = shard.pages[number];
  if (page == nullptr) {
    page = std::make_unique<Page>();
  }
  return *page;
}

std::uint64_t ShadowMemory::next_generation() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

ShadowMemory::RecentPages& ShadowMemory::recent_pages() const {
  static thread_local RecentPages recent;
  if (recent.generation != generation_) {
    recent = RecentPages{.generation = generation_};
  }
  return recent;
}

template <typename Visit>
void ShadowMemory::for_each_block(Page& page, std::uint64_t number, const Range& range,
                                  Visit visit) {
  const std::uint64_t page_start = number << kPageShift;
  for (std::size_t index = 0; index < kPageBlocks; ++index) {
    const std::uint64_t start = page_start + index * kBlockBytes;
    const std::uint64_t first = std::max(start, range.start);
    const std::uint64_t last = std::min(start + kBlockBytes, range.end);
    if (first < last) {
      visit(start, page[index],
            Bytes::range(static_cast<std::uint32_t>(first - start),
                         static_cast<std::uint32_t>(last - first)));
    }
  }
}

bool ShadowMemory::forget_in(Page& page, std::uint64_t number, const Range& range) {
  const std::uint64_t page_start = number << kPageShift;
  if (page_start >= range.start && page_start + kPageBytes <= range.end) {
    return true;
  }
  for_each_block(page, number, range,
                 [](std::uint64_t, Block& block, const Bytes& bytes) { block.clear(bytes); });
  return false;
}

void ShadowMemory::forget(std::uint64_t address, std::uint64_t bytes) {
  const Range range{.start = address, .end = address + bytes};
  std::vector<std::uint64_t> gone;
  for_each_page(address >> kPageShift, (range.end + kPageBytes - 1) >> kPageShift,
                [&](std::uint64_t number, Page& page) {
                  if (forget_in(page, number, range)) {
                    gone.push_back(number);
                  }
                });
  for (const std::uint64_t number : gone) {
    shards_[shard_of(number)].pages.erase(number);
  }
  generation_ = next_generation();
}

bool ShadowMemory::forget(std::uint64_t address, std::uint64_t bytes, const Choice& choose) {
  const Range range{.start = address, .end = address + bytes};
  for_each_page(address >> kPageShift, (range.end + kPageBytes - 1) >> kPageShift,
                [&](std::uint64_t number, Page& page) {
                  for_each_block(page, number, range,
                                 [&](std::uint64_t start, Block& block, const Bytes& some) {
                                   block.clear(
                                       some, [&](const Cell& cell) { return choose(start, cell); });
                                 });
                });
  bool is_any_left = false;
  look_at(address, bytes, [&](auto&&...) { is_any_left = true; });
  return is_any_left;
}

bool SharedShadow::is_valid() const {
  return std::ranges::all_of(blocks_, [this](const Touched& touched) {
    return touched.phase <= phase_ && (touched.block == nullptr || touched.block->is_valid());
  });
}

Block& SharedShadow::block(std::uint64_t offset) {
  DEBUG_ASSERT(offset < kLimit);
  const std::size_t index = offset >> kBlockShift;
  if (index >= blocks_.size()) {
    blocks_.resize(index + 1);
  }
  Touched& touched = blocks_[index];
  if (touched.block == nullptr) {
    touched.block = std::make_unique<Block>();
  } else if (touched.phase != phase_) {
    touched.block->clear();
  }
  touched.phase = phase_;
  return *touched.block;
}

}  // namespace barracuda::detector

#include "host_detector/shadow/shadow_memory.h"

#include <algorithm>
#include <functional>

namespace barracuda::detector {
namespace {

constexpr Bytes kWhole = Bytes::upto(kBlockBytes);

void cut(Entries& entries, const Bytes& bytes) {
  for (Entry& entry : entries) {
    entry.bytes = entry.bytes & ~bytes;
  }
  entries.erase(std::remove_if(entries.begin(), entries.end(),
                               [](const Entry& entry) { return entry.bytes.none(); }),
                entries.end());
}

void cut(History& history, const Bytes& bytes) {
  cut(history.entries, bytes);
  for (Crowd& crowd : history.crowds) {
    crowd.for_each([&](Entries& entries) { cut(entries, bytes); });
  }
  std::erase_if(history.crowds, [](const Crowd& crowd) { return crowd.warps() == 0; });
}

}  // namespace

void Block::clear() {
  whole_ = History{};
  words_.reset();
}

void Block::clear(const Bytes& bytes) {
  cut(whole_, bytes);
  if (words_ != nullptr) {
    for (History& word : *words_) {
      cut(word, bytes);
    }
  }
}

// Entries for the whole block stay together: copied to the words they would cost 32 times as much.
void Block::split_if_worthwhile() {
  const auto is_whole = [](const Entry& entry) { return entry.bytes == kWhole; };
  Entries& entries = whole_.entries;
  if (static_cast<std::size_t>(std::ranges::count_if(entries, is_whole)) * 2 > entries.size()) {
    return;
  }
  words_ = std::make_unique<std::array<History, kWords>>();
  for (const Entry& entry : entries) {
    for (std::uint32_t word = 0; word < kWords && !is_whole(entry); ++word) {
      Entry part = entry;
      part.bytes = entry.bytes & Bytes::range(word * kWordBytes, kWordBytes);
      if (!part.bytes.none()) {
        (*words_)[word].entries.push_back(part);
      }
    }
  }
  entries.erase(std::remove_if(entries.begin(), entries.end(), std::not_fn(is_whole)),
                entries.end());
  entries.shrink_to_fit();
}

void Block::merge_if_empty() {
  if (std::ranges::all_of(*words_, [](const History& word) { return word.is_empty(); })) {
    words_.reset();
  }
}

ShadowMemory::Page* ShadowMemory::find_or_make(std::uint64_t page) {
  std::unique_ptr<Page>& place = pages_[page];
  if (place == nullptr) {
    place = std::make_unique<Page>();
  }
  return place.get();
}

void ShadowMemory::forget(std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t end = address + bytes;
  const auto forget_in = [&](std::uint64_t number, Page& page) {
    for (std::size_t index = 0; index < kPageBlocks; ++index) {
      const std::uint64_t start = (number << kPageShift) + index * kBlockBytes;
      if (start >= end || start + kBlockBytes <= address) {
        continue;
      }
      if (start >= address && start + kBlockBytes <= end) {
        page[index].clear();
        continue;
      }
      const std::uint64_t first = std::max(start, address) - start;
      const std::uint64_t last = std::min(start + kBlockBytes, end) - start;
      page[index].clear(Bytes::range(static_cast<std::uint32_t>(first),
                                     static_cast<std::uint32_t>(last - first)));
    }
  };
  for (auto place = pages_.begin(); place != pages_.end();) {
    const std::uint64_t start = place->first << kPageShift;
    if (start >= address && start + (std::uint64_t{1} << kPageShift) <= end) {
      pages_.erase(place++);
      continue;
    }
    if (start < end && start + (std::uint64_t{1} << kPageShift) > address) {
      forget_in(place->first, *place->second);
    }
    ++place;
  }
  cache_.fill({});
}

Block& SharedShadow::block(std::uint64_t offset) {
  const std::size_t index = offset >> kBlockShift;
  if (index >= blocks_.size()) {
    blocks_.resize(index + 1);
  }
  if (blocks_[index] == nullptr) {
    blocks_[index] = std::make_unique<Block>();
  }
  return *blocks_[index];
}

}  // namespace barracuda::detector

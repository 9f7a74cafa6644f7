#include "host_detector/paper/shadow.h"

#include "base/assert.h"

namespace barracuda::detector::paper {

Shadow::Word& Shadow::word(std::uint64_t address) {
  DEBUG_ASSERT(address % kWordBytes == 0);
  const std::uint64_t number = address >> kPageShift;
  if (last_ == nullptr || last_number_ != number) {
    std::unique_ptr<Page>& page = pages_[number];
    if (page == nullptr) {
      page = std::make_unique<Page>();
    }
    last_ = page.get();
    last_number_ = number;
  }
  return (*last_)[address / kWordBytes % kPageWords];
}

void Shadow::forget(std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t end = address + bytes;
  last_ = nullptr;
  erase_if(pages_, [&](auto& each) {
    const std::uint64_t start = each.first << kPageShift;
    const std::uint64_t stop = start + (std::uint64_t{1} << kPageShift);
    if (start >= end || stop <= address) {
      return false;
    }
    for (std::uint64_t i = 0; i < kPageWords; ++i) {
      const std::uint64_t at = start + i * kWordBytes;
      if (at < end && at + kWordBytes > address) {
        (*each.second)[i] = Word();  // allocations begin and end at words
      }
    }
    return address <= start && stop <= end;
  });
}

}  // namespace barracuda::detector::paper

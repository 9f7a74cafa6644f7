#include "host_detector/queue/record_sample.h"

#include <algorithm>
#include <span>

#include "host_detector/queue/decode.h"

namespace barracuda::detector {

void RecordSample::take(const RecordBatch& batch) {
  batch.for_each([this](std::span<const std::byte> record) {
    if (next_ == 0) {
      ++seen_of_[header_of(record).site];
      ++seen_;
      next_ = kEvery;
    }
    --next_;
  });
}

std::vector<SiteShare> RecordSample::largest(std::size_t most) const {
  std::vector<SiteShare> shares;
  for (const auto& [site, seen] : seen_of_) {
    shares.push_back({site, static_cast<double>(seen) / static_cast<double>(seen_)});
  }
  std::ranges::sort(shares, [](const SiteShare& a, const SiteShare& b) {
    return a.share != b.share ? a.share > b.share : a.site < b.site;
  });
  shares.resize(std::min(shares.size(), most));
  return shares;
}

}  // namespace barracuda::detector

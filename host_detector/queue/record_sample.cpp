#include "host_detector/queue/record_sample.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "device_logger/record.h"

namespace barracuda::detector {

void RecordSample::take(const RecordBatch& batch) {
  std::size_t slot = 0;
  for (const std::uint32_t slots : batch.slots) {
    if (next_ == 0) {
      wire::HeaderHalf header{};
      std::memcpy(&header, batch.bytes.data() + slot * wire::kSlotBytes, sizeof header);
      ++seen_of_[wire::SiteId{header.site}];
      ++seen_;
    }
    next_ = next_ == 0 ? kEvery - 1 : next_ - 1;
    slot += slots;
  }
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

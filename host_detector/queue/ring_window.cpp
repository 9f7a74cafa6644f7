#include "host_detector/queue/ring_window.h"

#include <algorithm>

namespace barracuda::detector {

bool RingWindow::is_valid() const {
  return used_ <= clusters_.size() && places_.size() == used_ &&
         std::ranges::all_of(places_, [this](const auto& place) {
           const ClusterRecords& records = clusters_[place.second];
           return place.second < used_ &&
                  place.first == (std::uint64_t{records.launch()} << 32 | records.cluster());
         });
}

ClusterRecords& RingWindow::find_or_add(std::uint16_t launch, std::uint32_t cluster) {
  std::uint32_t& recent = recent_[cluster % kRecent];
  if (recent < used_ && clusters_[recent].cluster() == cluster &&
      clusters_[recent].launch() == launch) {
    return clusters_[recent];
  }
  const auto [place, is_new] =
      places_.try_emplace(std::uint64_t{launch} << 32 | cluster, static_cast<std::uint32_t>(used_));
  recent = place->second;
  if (is_new) {
    if (used_ == clusters_.size()) {
      clusters_.emplace_back();
    }
    clusters_[used_++].reuse(launch, cluster);
  }
  return clusters_[recent];
}

void RingWindow::clear() {
  batches_.clear();
  places_.clear();
  used_ = 0;
}

}  // namespace barracuda::detector

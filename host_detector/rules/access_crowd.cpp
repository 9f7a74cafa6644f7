// Crowds: the many concurrent entries of one kind that a busy word collects, kept by warp.
#include <algorithm>
#include <array>

#include "host_detector/rules/access.h"

namespace barracuda::detector {

CrowdKind AccessCheck::crowd_kind(const Entry& entry) const {
  if (!entry.writes()) {
    return CrowdKind::kReads;
  }
  const wire::SiteInfo& site = engine_.site(entry.site);
  if (!entry.reads() || entry.is_asynchronous() || entry.is_of_mbarrier() ||
      site.order == wire::MemoryOrder::kWeak || site.order == wire::MemoryOrder::kVolatile ||
      site.scope < wire::Scope::kGpu) {
    return CrowdKind::kNone;
  }
  switch (site.element_bytes) {
    case 1:
      return CrowdKind::kAtomics1;
    case 2:
      return CrowdKind::kAtomics2;
    case 4:
      return CrowdKind::kAtomics4;
    case 8:
      return CrowdKind::kAtomics8;
    default:
      return CrowdKind::kNone;
  }
}

// True if `entry` was recorded there.
bool AccessCheck::meet_crowd(Access& access, Crowd& crowd, const Entry& entry, bool records) {
  const LaunchId launch = access.actor.launch();
  const bool is_one_of_them = crowd.kind() == access.kind;
  bool is_recorded = false;
  if (is_one_of_them &&
      (crowd.launch() == launch || !engine_.order.is_before(crowd.launch(), launch))) {
    is_recorded = meet_all(access, crowd.of_warp(entry), entry, records);
  } else {
    crowd.set_launch(launch);
    crowd.for_each([&](Entries& entries) {
      is_recorded = meet_all(access, entries, entry, records && !is_recorded) || is_recorded;
    });
  }
  if (records && is_one_of_them && !is_recorded) {
    crowd.of_warp(entry).push_back(entry);
    is_recorded = true;
  }
  return is_recorded;
}

// Of accesses of one site that all race with each other, more tell nothing new: a word that is
// written without order again and again must not keep one of each thread.
bool AccessCheck::is_one_too_many(Access& access, const Entry& entry) {
  if (access.mode == Mode::kRecord) {
    return entry.lanes != 0 && (entry.lanes & ~access.crowded_lanes) == 0;
  }
  return access.racing_sites.has_enough_everywhere_of(entry.site);
}

// Moves the entries of the commonest kind to their crowd.
void AccessCheck::gather_crowd(History& history) const {
  std::array<std::size_t, kCrowdKinds> counts{};
  for (const Entry& entry : history.entries) {
    ++counts[static_cast<std::size_t>(crowd_kind(entry))];
  }
  counts[static_cast<std::size_t>(CrowdKind::kNone)] = 0;
  const auto most = std::ranges::max_element(counts);
  if (*most * 2 <= History::kCrowdAt) {
    return;
  }
  const auto kind = static_cast<CrowdKind>(most - counts.begin());
  Crowd* crowd = history.crowd(kind);
  if (crowd == nullptr) {
    crowd = &history.crowds.emplace_back(kind);
  }
  const auto left =
      std::remove_if(history.entries.begin(), history.entries.end(), [&](const Entry& entry) {
        if (crowd_kind(entry) != kind) {
          return false;
        }
        crowd->set_launch(std::max(crowd->launch(), entry.launch()));
        crowd->of_warp(entry).push_back(entry);
        return true;
      });
  history.entries.erase(left, history.entries.end());
}

}  // namespace barracuda::detector

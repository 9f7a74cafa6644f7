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

// The two never conflict, whoever makes them.
bool AccessCheck::is_of_crowd(const Access& access, const Entry& older, const Entry& entry) const {
  const bool is_alike = older.site == entry.site && older.flags == entry.flags;
  return access.kind != CrowdKind::kNone && (is_alike || crowd_kind(older) == access.kind);
}

// True if `entry` was recorded there.
bool AccessCheck::meet_crowd(Access& access, Crowd& crowd, const Entry& entry, bool records) {
  const LaunchId launch = access.actor.launch();
  const bool is_one_of_them = crowd.kind() == access.kind;
  if (!is_one_of_them ||
      (crowd.launch() != launch && engine_.order.is_before(crowd.launch(), launch))) {
    crowd.set_launch(launch);
    crowd.update([&](Entry& older) {
      if (!(older.bytes & entry.bytes).none()) {
        meet_older(access, older, entry);
      }
    });
  }
  if (records && is_one_of_them) {
    add_to_crowd(crowd, entry);
  }
  return records && is_one_of_them;
}

void AccessCheck::add_to_crowd(Crowd& crowd, const Entry& entry) const {
  const bool is_there = crowd.any_recent_of_warp(entry, [&](Entry& recent) {
    if (recent.merge(entry)) {
      return true;
    }
    cut_to_newer(entry, recent);
    if (!recent.bytes.none()) {
      return false;
    }
    recent = entry;
    return true;
  });
  if (is_there) {
    return;
  }
  crowd.add(entry);
  if (crowd.should_compact()) {
    crowd.compact([&](const Entry& newer, Entry& older) { cut_to_newer(newer, older); });
  }
}

// Of one warp: what lanes did again later need not be kept.
void AccessCheck::cut_to_newer(const Entry& newer, Entry& older) const {
  if (newer.is_asynchronous() || older.is_asynchronous() ||
      !may_replace(side_of(newer), side_of(older))) {
    return;
  }
  if (newer.lanes != 0 && older.lanes != 0 && older.bytes.within(newer.bytes)) {
    if ((older.lanes & ~newer.lanes) != 0) {
      older.lanes &= ~newer.lanes;
    } else {
      older.bytes = Bytes{};
    }
  } else if (newer.maps_lanes_like(older)) {
    older.bytes = older.bytes & ~newer.bytes;
  }
}

// Of accesses of one site that all race with each other, more tell nothing new: a word that is
// written without order again and again must not keep one of each thread.
bool AccessCheck::is_one_too_many(const Access& access, const History& history,
                                  const Entry& entry) {
  const bool races_everywhere = access.mode == Mode::kRecord
                                    ? entry.lanes != 0 && (entry.lanes & ~access.crowded_lanes) == 0
                                    : access.racing_sites.has_enough_everywhere_of(entry.site);
  if (!races_everywhere) {
    return false;
  }
  std::uint32_t of_site = 0, of_warp = 0;
  for (const Entry& kept : history.entries) {
    if (kept.site == entry.site) {
      ++of_site;
      of_warp += kept.cta == entry.cta && kept.warp == entry.warp ? 1 : 0;
    }
  }
  return of_site >= kMostOfSite || of_warp >= kMostOfWarp;
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
        crowd->add(entry);
        return true;
      });
  history.entries.erase(left, history.entries.end());
  history.entries.shrink_to_fit();
}

}  // namespace barracuda::detector

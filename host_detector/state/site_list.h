// The sites of a session, by their ids.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "device_logger/record.h"
#include "device_logger/site_info.h"

namespace barracuda::detector {

class SiteList {
 public:
  // Consecutive from `first`. False if their ids cannot be; then nothing is added.
  bool add(wire::SiteId first, std::span<const wire::SiteInfo> sites) {
    const auto start = static_cast<std::size_t>(first);
    if (start + sites.size() > wire::kMaxSites) {
      return false;
    }
    sites_.resize(std::max(sites_.size(), start + sites.size()));
    std::ranges::copy(sites, sites_.begin() + static_cast<std::ptrdiff_t>(start));
    return true;
  }

  // Null if there is none.
  [[nodiscard]] const wire::SiteInfo* find(wire::SiteId id) const {
    const auto site = static_cast<std::size_t>(id);
    if (site >= sites_.size()) {
      return nullptr;
    }
    const std::optional<wire::SiteInfo>& known = sites_[site];
    return known ? &*known : nullptr;
  }

  // One that was added.
  // NOLINTNEXTLINE(bugprone-unchecked-optional-access)
  [[nodiscard]] const wire::SiteInfo& operator[](std::uint32_t id) const { return *sites_[id]; }

 private:
  std::vector<std::optional<wire::SiteInfo>> sites_;
};

}  // namespace barracuda::detector

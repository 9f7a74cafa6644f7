// The launches that synchronised through global memory since what was kept of that was cleared.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "host_detector/launches/launch_order.h"

namespace barracuda::detector {

class SyncUsers {
 public:
  // `launch` synchronises, one of the launches in the map `running`. True if what is kept may be
  // cleared before: synchronisation of launches that were over before every running one began
  // orders nothing more.
  template <typename Running>
  [[nodiscard]] bool add(LaunchId launch, const Running& running, const LaunchOrder& order) {
    if (std::ranges::find(users_, launch) != users_.end()) {
      return false;
    }
    const bool all_old = std::ranges::all_of(running, [&](const auto& each) {
      return std::ranges::all_of(users_,
                                 [&](LaunchId user) { return order.is_before(user, each.first); });
    });
    if (all_old) {
      users_.clear();
    }
    // A launch that is ordered before this one is dropped: otherwise streams that never meet, and
    // synchronise in each launch, would have a list that grows with every launch.
    std::erase_if(users_, [&](LaunchId user) { return order.is_before(user, launch); });
    users_.push_back(launch);
    return all_old;
  }

  [[nodiscard]] std::size_t size() const { return users_.size(); }

 private:
  std::vector<LaunchId> users_;
};

}  // namespace barracuda::detector

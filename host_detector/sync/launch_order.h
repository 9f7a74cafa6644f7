// Which launches were over before which began. Launches are put on chains (a stream is one), so
// that a launch's past is one number a chain.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "host_detector/launch.h"

namespace barracuda::detector {

class LaunchOrder {
 public:
  // Unknown launches among `ordered_after` are ignored: nothing of them was recorded.
  void add(LaunchId launch, std::span<const LaunchId> ordered_after);

  [[nodiscard]] bool knows(LaunchId launch) const { return places_.contains(launch); }

  // `first` was over before `second` began.
  [[nodiscard]] bool is_before(LaunchId first, LaunchId second) const;
  // Every other launch that was added was over before `launch` began.
  [[nodiscard]] bool is_after_all(LaunchId launch) const;

 private:
  struct Place {
    std::uint32_t chain = 0;
    std::uint32_t position = 0;         // on its chain, from 1
    std::vector<std::uint32_t> before;  // for each chain, how far it was over
  };

  boost::unordered_flat_map<LaunchId, Place> places_;
  std::vector<LaunchId> tails_;  // the newest launch of each chain
};

}  // namespace barracuda::detector

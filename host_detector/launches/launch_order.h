// Which launches and copies were over before which began; here "launch" means either. They are put
// on chains (a stream is one), so that a launch's past is one number a chain; those of a chain that
// learn nothing new of others share their past.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "host_detector/launch.h"
#include "host_detector/launches/launch_places.h"

namespace barracuda::detector {

class LaunchOrder {
 public:
  // Unknown launches among `ordered_after` are ignored: nothing of them was recorded. Of the
  // prerequisite only what it came after itself was over.
  void add(WorkId launch, std::span<const WorkId> ordered_after, LaunchId prerequisite = {});

  [[nodiscard]] bool knows(WorkId launch) const { return places_.find(launch).is_known(); }

  // `first` was over before `second` began.
  [[nodiscard]] bool is_before(WorkId first, WorkId second) const;
  // Every other launch that was added was over before `launch` began.
  [[nodiscard]] bool is_after_all(WorkId launch) const;

 private:
  using Past = std::vector<std::uint32_t>;  // for each other chain, how far it was over

  struct Chain {
    WorkId tail{};  // its newest launch
    std::uint32_t length = 0;
    std::uint32_t past = 0;  // of the tail
  };

  static bool is_before(const LaunchPlace& first, const LaunchPlace& second, const Past& past);
  [[nodiscard]] Past past_of(std::span<const WorkId> ordered_after, LaunchId prerequisite) const;
  // A chain of which every launch is over; a new one if there is no such chain.
  std::uint32_t chain_for(std::span<const WorkId> ordered_after, const Past& past);

  LaunchPlaces places_;
  std::vector<Chain> chains_;
  std::deque<Past> pasts_;
};

}  // namespace barracuda::detector

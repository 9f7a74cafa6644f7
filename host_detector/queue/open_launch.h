// A launch that is not over, as the order of records sees it.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "host_detector/launches/launch_shape.h"
#include "host_detector/queue/cluster_queue.h"

namespace barracuda::detector {

struct OpenLaunch {
  explicit OpenLaunch(const LaunchInfo& info) : shape(info) {}

  LaunchShape shape;
  std::vector<WorkId> awaited;                   // launches before it that are not over
  std::vector<WorkId> followers;                 // those that await it
  std::chrono::steady_clock::time_point begun;   // when they were over
  std::uint64_t records = 0;                     // that were taken
  std::chrono::steady_clock::time_point newest;  // when the last of them was
  boost::unordered_flat_map<std::uint32_t, std::unique_ptr<ClusterQueue>> queues;  // none is empty
  static constexpr std::uint32_t kRecent = 256;
  std::array<ClusterQueue*, kRecent> recent{};  // of these, where they were found last
  std::vector<ClusterQueue*> early;  // all of them, in the order they came, while some are awaited
  bool is_force_ended = false;       // once those before it are over
  bool is_late = false;

  [[nodiscard]] LaunchId id() const { return shape.info.id; }

  // What records have of its id.
  [[nodiscard]] std::uint16_t low_bits() const { return static_cast<std::uint16_t>(id()); }

  void count(std::uint64_t more_records, std::chrono::steady_clock::time_point now) {
    records += more_records;
    newest = std::max(now, begun);
  }
};

}  // namespace barracuda::detector

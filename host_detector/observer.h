// Hears all that a pipeline's detector is given, in exactly that order, each time just before the
// detector is. Called under the pipeline's lock, from any of its threads: be quick, call nothing of
// the pipeline. What Replayer is given in the same order gives the same findings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/tensor_map.h"
#include "host_detector/copy.h"

namespace barracuda::detector {

class Observer {
 public:
  Observer() = default;
  virtual ~Observer() = default;
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;

  virtual void sites_added(wire::SiteId /*first*/, std::span<const wire::SiteInfo> /*sites*/) {}

  virtual void tensor_map_added(std::uint64_t /*number*/, const TensorMap& /*map*/) {}

  virtual void launch_begun(const LaunchInfo& /*launch*/) {}

  virtual void copy_begun(const CopyInfo& /*copy*/) {}

  // The record as it lay in its queue.
  virtual void record_applied(LaunchId /*launch*/, std::span<const std::byte> /*record*/) {}

  // Force-ended.
  virtual void launch_ended(LaunchId /*launch*/) {}

  virtual void memory_forgotten(std::uint64_t /*address*/, std::uint64_t /*bytes*/) {}

  // What was found so far is being asked for.
  virtual void findings_read() {}

  // Nothing has come for some milliseconds.
  virtual void queues_idle() {}
};

}  // namespace barracuda::detector

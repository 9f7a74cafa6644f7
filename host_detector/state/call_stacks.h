// Interned call stacks: a stack is its innermost call site on top of another stack. 0 is the empty
// one. Thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>
#include <tbb/spin_mutex.h>

#include "device_logger/site_info.h"

namespace barracuda::detector {

class CallStacks {
 public:
  [[nodiscard]] std::uint32_t push(std::uint32_t stack, wire::SiteId call) {
    const tbb::spin_mutex::scoped_lock lock(mutex_);
    const std::uint64_t key = (std::uint64_t{stack} << 32) | static_cast<std::uint32_t>(call);
    const auto [place, is_new] = ids_.try_emplace(key, static_cast<std::uint32_t>(frames_.size()));
    if (is_new) {
      frames_.push_back({.call = call, .below = stack});
    }
    return place->second;
  }

  [[nodiscard]] std::uint32_t pop(std::uint32_t stack) const {
    const tbb::spin_mutex::scoped_lock lock(mutex_);
    return frames_[stack].below;
  }

  // Innermost first.
  [[nodiscard]] std::vector<wire::SiteId> calls(std::uint32_t stack) const {
    const tbb::spin_mutex::scoped_lock lock(mutex_);
    std::vector<wire::SiteId> found;
    for (std::uint32_t at = stack; at != 0; at = frames_[at].below) {
      found.push_back(frames_[at].call);
    }
    return found;
  }

 private:
  struct Frame {
    wire::SiteId call{};
    std::uint32_t below = 0;
  };

  mutable tbb::spin_mutex mutex_;
  boost::unordered_flat_map<std::uint64_t, std::uint32_t> ids_;
  std::vector<Frame> frames_{Frame{}};
};

}  // namespace barracuda::detector

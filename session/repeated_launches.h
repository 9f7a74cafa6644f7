// Launches of steady kernels (ptx::Kernel::plain) that are like one before: the same kernel, shape
// and arguments. What the first did was checked; if no race of it is known, the others race with
// themselves no more than it does (docs/decisions/device-filter.md). Thread-safe.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <vector>

#include "host_detector/pipeline.h"
#include "session/launch_request.h"
#include "session/module_registry.h"

namespace barracuda::session {

class RepeatedLaunches {
 public:
  // Of launches that are alike.
  using Key = std::vector<std::byte>;

  explicit RepeatedLaunches(detector::Pipeline& pipeline) : pipeline_(pipeline) {}

  // `arguments`: packed.
  [[nodiscard]] static Key key_of(const KernelBinding& kernel, const LaunchRequest& request,
                                  const std::vector<std::byte>& arguments);

  // One that logs has its place in the order.
  void logged(const Key& key, detector::LaunchId id);
  // Whether one like it was checked and is in no race. May wait a while for that, as a program that
  // launches the same a thousand times would otherwise log most of them; nothing of ours is held.
  [[nodiscard]] bool is_checked(const Key& key, const ptx::Kernel& kernel);

 private:
  enum class State : std::uint8_t { kLogged, kClean, kRacing };

  struct First {
    detector::LaunchId id{};
    State state = State::kLogged;
  };

  [[nodiscard]] bool races(const ptx::Kernel& kernel) const;

  detector::Pipeline& pipeline_;
  std::mutex mutex_;
  std::map<Key, First> firsts_;
  int waits_in_vain_ = 0;
};

}  // namespace barracuda::session

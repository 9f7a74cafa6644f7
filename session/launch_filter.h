// Which launches the user's options leave out. Not thread-safe.
#pragma once

#include <cstdint>
#include <utility>

#include "base/options.h"
#include "session/kernel_filter.h"
#include "session/module_registry.h"

namespace barracuda::session {

class LaunchFilter {
 public:
  LaunchFilter(const Options& options, KernelFilter filter)
      : options_(options), filter_(std::move(filter)) {}

  [[nodiscard]] bool matches(const KernelBinding& kernel) const {
    return filter_.matches(kernel.name);
  }

  // Of one that can be checked: only those have a number for launch-skip and launch-count.
  bool leaves_out_next(const KernelBinding& kernel) {
    if (!matches(kernel)) {
      return true;
    }
    const std::uint64_t number = matching_++;
    return number < options_.launch_skip ||
           (options_.launch_count != 0 && number - options_.launch_skip >= options_.launch_count);
  }

 private:
  const Options& options_;
  const KernelFilter filter_;
  std::uint64_t matching_ = 0;
};

}  // namespace barracuda::session

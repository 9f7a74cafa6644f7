// What was launched: a line for every launch, a count for every kernel. Not thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "host_detector/race_event.h"
#include "report/run_data.h"
#include "session/module_registry.h"

namespace barracuda::session {

class LaunchBook {
 public:
  // A number for a launch that is to be checked.
  detector::LaunchId open(const KernelBinding& kernel, const detector::LaunchInfo& info,
                          std::uint64_t stream);
  // The driver took a launch of this kernel (null: a handle never seen), which ran unchecked if
  // there is a reason.
  void count(const KernelBinding* kernel, const std::string& unchecked_reason);

  [[nodiscard]] std::uint64_t launch_count() const { return launch_count_; }

  [[nodiscard]] std::string kernel_of(detector::LaunchId id) const;
  // Of a launch that was opened.
  [[nodiscard]] report::LaunchRecord record(detector::LaunchId id) const;
  [[nodiscard]] std::vector<report::KernelRecord> kernels() const;
  // The launches that the findings name.
  [[nodiscard]] std::vector<report::LaunchRecord> named_in(
      const detector::Findings& findings,
      const std::vector<report::MemoryErrorRecord>& errors) const;
  // Instructions that were not logged, of the kernels that were launched.
  [[nodiscard]] std::vector<ptx::NotCovered> not_covered() const;

 private:
  // Names are those of the kernel records; a program may launch millions of times.
  struct Line {
    const std::string* kernel = nullptr;
    std::uint64_t stream = 0;
    detector::Dim3 grid, block;
    std::uint32_t stack = 0;
  };

  using KernelKey = std::pair<const ProgramImage*, std::string>;

  report::KernelRecord& record_of(const KernelBinding& kernel);
  std::uint32_t intern_stack();

  std::deque<Line> lines_;  // of launch i + 1
  std::map<KernelKey, report::KernelRecord> kernels_;
  std::map<std::vector<std::uint64_t>, std::uint32_t> stack_numbers_;
  std::vector<const std::vector<std::uint64_t>*> stacks_;
  std::uint64_t stacks_taken_ = 0;
  std::uint64_t launch_count_ = 0;
};

}  // namespace barracuda::session

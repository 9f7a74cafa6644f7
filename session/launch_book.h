// What was launched: a line for every launch, a count for every kernel. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "host_detector/race_event.h"
#include "report/run_data.h"
#include "session/module_registry.h"

namespace barracuda::session {

// Why a launch is not checked, if it is not.
struct LaunchCheck {
  bool is_left_out = false;  // by the user's options
  std::string unchecked;     // any other reason
};

class LaunchBook {
 public:
  // A number for a launch that is to be checked.
  detector::LaunchId open(const KernelBinding& kernel, const detector::LaunchInfo& info,
                          std::uint64_t stream);
  // The driver is given a launch of this kernel (null: a handle never seen).
  void count(const KernelBinding* kernel, const LaunchCheck& check);
  // The driver refused it after all: undoes count().
  void refused(const KernelBinding* kernel, const LaunchCheck& check);

  // Every line is of a kind that is known, and the launches are those of the kernels.
  [[nodiscard]] bool is_valid() const;

  [[nodiscard]] std::uint64_t launch_count() const { return launch_count_; }

  // The number that open() gave last.
  [[nodiscard]] std::size_t opened() const { return lines_.size(); }

  [[nodiscard]] std::string kernel_of(detector::LaunchId id) const;
  // Of a launch that was opened.
  [[nodiscard]] report::LaunchRecord record(detector::LaunchId id) const;
  [[nodiscard]] std::vector<report::KernelRecord> kernels() const;
  // The mangled names of those of them that came with libraries, and of what library.
  [[nodiscard]] std::map<std::string, std::string> libraries() const;
  // The launches that the findings name.
  [[nodiscard]] std::vector<report::LaunchRecord> named_in(
      const detector::Findings& findings,
      const std::vector<report::MemoryErrorRecord>& errors) const;
  // Instructions that were not logged, of the kernels that were launched.
  [[nodiscard]] std::vector<ptx::NotCovered> not_covered() const;
  [[nodiscard]] std::vector<ptx::RegisterHazard> register_hazards() const;

 private:
  // What images say of their functions, of kernels that were launched.
  template <typename Each>
  [[nodiscard]] std::vector<Each> of_launched(std::vector<Each> ProgramImage::* list) const;

  // A program may launch millions of times, mostly the same.
  struct Line {
    const report::KernelRecord* kernel = nullptr;
    std::uint64_t stream = 0;
    detector::Dim3 grid, block;
    std::uint32_t stack = 0;

    friend bool operator==(const Line&, const Line&) = default;
  };

  struct HashOfLine {
    std::size_t operator()(const Line& line) const;
  };

  using KernelKey = std::pair<const ProgramImage*, std::string>;

  report::KernelRecord& record_of(const KernelBinding& kernel);
  report::KernelRecord& record_of_any(const KernelBinding* kernel);
  std::uint32_t intern_stack();

  [[nodiscard]] const Line& line_of(detector::LaunchId id) const {
    return *kinds_[lines_[static_cast<std::uint32_t>(id) - 1]];
  }

  std::vector<std::uint32_t> lines_;                           // of launch i + 1, in kinds_
  std::unordered_map<Line, std::uint32_t, HashOfLine> known_;  // numbers in kinds_
  std::vector<const Line*> kinds_;
  std::map<KernelKey, report::KernelRecord> kernels_;
  std::map<KernelKey, std::string> libraries_;
  std::map<std::vector<std::uint64_t>, std::uint32_t> stack_numbers_;
  std::vector<const std::vector<std::uint64_t>*> stacks_;
  std::uint64_t stacks_taken_ = 0;
  std::uint64_t launch_count_ = 0;
};

}  // namespace barracuda::session

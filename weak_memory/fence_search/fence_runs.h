// The runs behind every answer of the search for fences: each has a seed and a weakness of its own.
#pragma once

#include <cstdint>
#include <vector>

#include "weak_memory/environments.h"
#include "weak_memory/experiment.h"
#include "weak_memory/oracle.h"
#include "weak_memory/statistics.h"
#include "weak_memory/trials.h"

namespace barracuda::weak_memory {

struct FenceRunOptions {
  std::uint64_t first_seed = 1;
  std::vector<Environment> environments;  // in turn; at least one
  // A run with a seed is the same each time: one that has failed once is made first from then on,
  // so that most answers take one run. If not, each run has a seed that none before had, and the
  // environment that failed last comes first.
  bool is_repeatable = true;
};

class FenceRuns {
 public:
  enum class Answer : std::uint8_t {
    kPass,
    kFail,
    kUnknown,  // the time is over, or most runs were lost: nothing is left out for want of runs
  };

  FenceRuns(FenceRunOptions options, Trials& trials);

  // From now on these.
  void choose(std::vector<Environment> environments);

  // Whether any of the first `count` fails with these fences, or any that has failed before.
  Answer ask(std::uint64_t count, const Settings& fences);

  // How often `count` of them fail: all together, and in each environment.
  Rate rate_of(std::uint64_t count, const Settings& fences);
  std::vector<Rate> rates_of(std::uint64_t count_of_each, const Settings& fences);

  [[nodiscard]] const std::vector<Environment>& environments() const {
    return options_.environments;
  }

  // Of the first run that failed, and of the last.
  [[nodiscard]] Failure first_failure() const { return first_failure_; }

  [[nodiscard]] Failure last_failure() const { return last_failure_; }

 private:
  // A run, by its number in the order of environments.
  Settings settings_of(std::uint64_t number, const Settings& fences);
  std::vector<Settings> settings_of(const std::vector<std::uint64_t>& numbers,
                                    const Settings& fences);
  bool failing_one(const std::vector<std::uint64_t>& numbers, const Settings& fences);

  FenceRunOptions options_;
  Trials& trials_;
  std::vector<std::uint64_t> failing_;  // the last that failed first; none if nothing repeats
  std::uint64_t made_ = 0;              // where nothing repeats: seeds that were used
  Failure first_failure_ = Failure::kNone, last_failure_ = Failure::kNone;
};

}  // namespace barracuda::weak_memory

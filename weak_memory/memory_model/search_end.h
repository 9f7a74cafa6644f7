// When a search has to end although it has not found all: its time is over, or it was interrupted.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "weak_memory/memory_model/exploration.h"

namespace barracuda::memory_model {

class SearchEnd {
 public:
  // `options` outlive it.
  explicit SearchEnd(const ExploreOptions& options) : options_(options) {}

  // Of a long search each kEvery-th time looks: it asks more often than a clock and a terminal
  // answer quickly.
  [[nodiscard]] bool has_come() const {
    ++asked_;
    if (!has_come_ && (asked_ <= kEvery || asked_ % kEvery == 0)) {
      has_come_ = is_stopped() || age() > options_.seconds;
    }
    return has_come_;
  }

  // As Exploration::bound says it. Empty: it has not come.
  [[nodiscard]] std::string bound() const;

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::uint64_t kEvery = 64;

  [[nodiscard]] bool is_stopped() const { return options_.stops && options_.stops(); }

  [[nodiscard]] double age() const {
    return std::chrono::duration<double>(Clock::now() - begin_).count();
  }

  const ExploreOptions& options_;
  Clock::time_point begin_ = Clock::now();
  mutable std::uint64_t asked_ = 0;
  mutable bool has_come_ = false;
};

}  // namespace barracuda::memory_model

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

  [[nodiscard]] bool has_come() const { return is_stopped() || age() > options_.seconds; }

  // As Exploration::bound says it. Empty: it has not come.
  [[nodiscard]] std::string bound() const {
    const auto seconds = [](double all) {
      return std::to_string(static_cast<std::uint64_t>(all)) + " s";
    };
    return is_stopped()               ? seconds(age()) + " (interrupted)"
           : age() > options_.seconds ? seconds(options_.seconds)
                                      : "";
  }

 private:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] bool is_stopped() const { return options_.stops && options_.stops(); }

  [[nodiscard]] double age() const {
    return std::chrono::duration<double>(Clock::now() - begin_).count();
  }

  const ExploreOptions& options_;
  Clock::time_point begin_ = Clock::now();
};

}  // namespace barracuda::memory_model

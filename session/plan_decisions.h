// Which decisions of the process's plan its threads have come to: the others are of another
// program, another input or another build.
#pragma once

#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "emulator/weakness.h"

namespace barracuda::session {

class PlanDecisions {
 public:
  PlanDecisions(std::string plan, std::vector<emulator::Decision> decisions)
      : plan_(std::move(plan)), missed_(std::move(decisions)) {}

  // What was made weak, a piece of it.
  void note(const emulator::WeakLog& log);

  // A sentence about decisions that the run never came to. Empty: there are none.
  [[nodiscard]] std::string misfit() const;

 private:
  std::string plan_;  // its file
  mutable std::mutex mutex_;
  std::vector<emulator::Decision> missed_;
};

}  // namespace barracuda::session

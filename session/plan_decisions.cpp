#include "session/plan_decisions.h"

#include <fmt/format.h>

#include "session/weak_log.h"

namespace barracuda::session {

void PlanDecisions::note(const emulator::WeakLog& log) {
  const std::lock_guard lock(mutex_);
  for (const emulator::WeakEvent& event : log.events) {
    std::erase(missed_, event.decision);
  }
}

std::string PlanDecisions::misfit() const {
  const std::lock_guard lock(mutex_);
  if (missed_.empty()) {
    return "";
  }
  return fmt::format(
      "option weakness: {}: {} of its decisions do not fit the program, the first '{}': such a "
      "plan repeats a run of the same program, built the same, with the same input alone",
      plan_, missed_.size(), decision_text(missed_.front()));
}

}  // namespace barracuda::session

// How weak the options, and the plan that they name, make the emulated device's memory.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/expected.h"
#include "base/options.h"
#include "emulator/weakness.h"
#include "session/plan_decisions.h"

namespace barracuda::session {

// The option that makes memory weak, as the user wrote it: "delay-stores=0.5". Empty: none does.
std::string weakening_option(const Options& options);

// Of these, the option that only the simulation of the emulated device has, as the user wrote it.
// Stores can be delayed on a GPU too (store_delayer.h). Empty: none.
std::string simulated_option(const Options& options);

struct ProcessWeakness {
  emulator::Weakness weakness;
  std::shared_ptr<const PlanDecisions> decisions;  // of the plan, if that has some; or null
};

// Nothing if memory is to be strong, or is made weak by rewriting the program. With weak-log the
// file is emptied, and gets the log. Errors: a value that is none, a file that cannot be written.
Expected<std::optional<ProcessWeakness>> weakness_of(const Options& options);

}  // namespace barracuda::session

// The weakness of a run as its process gets it: options, or a plan for the option weakness.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "session/plan.h"
#include "weak_memory/experiment.h"

namespace barracuda::cli {

// By name and value: the probabilities and what they are confined to.
std::vector<std::pair<std::string, std::string>> weakness_options(
    const weak_memory::Settings& settings);

// The plan that repeats a run of this program with these settings. `expected.failure` is empty if
// it is not known how the run ends.
session::Plan plan_of(const std::vector<std::string>& program,
                      const weak_memory::Settings& settings, session::Plan::Expectation expected);

}  // namespace barracuda::cli

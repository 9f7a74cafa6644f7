#include "cli/weak_plan.h"

#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace barracuda::cli {

using weak_memory::Settings;
using weak_memory::Weakness;

std::vector<std::pair<std::string, std::string>> weakness_options(const Settings& settings) {
  const Weakness& weakness = settings.weakness;
  std::vector<std::pair<std::string, std::string>> options;
  if (weakness.decisions) {
    return options;  // the plan says it
  }
  const auto add_probability = [&options](const char* name, double probability) {
    if (probability > 0) {
      options.emplace_back(name, fmt::format("{}", probability));
    }
  };
  add_probability("delay-stores", weakness.stores);
  add_probability("stale-reads", weakness.stale_reads);
  add_probability("late-loads", weakness.late_loads);
  if (!weakness.stress.empty() || weakness.shuffled) {
    options.emplace_back("delay-levels", "rewrite");
  }
  if (!weakness.stress.empty()) {
    options.emplace_back("stress", weakness.stress);
  }
  if (weakness.shuffled) {
    options.emplace_back("shuffle", "blocks");
  }
  if (!weakness.global || !weakness.shared) {
    options.emplace_back("delay-spaces", weakness.global ? "global" : "shared");
  }
  if (!weakness.kernel.empty()) {
    options.emplace_back("delay-kernel", "kne=" + weakness.kernel);
  }
  if (!weakness.places.empty()) {
    std::vector<std::string> places;
    places.reserve(weakness.places.size());
    for (const emulator::CodePlace& place : weakness.places) {
      places.push_back(fmt::format("{}:{}", place.file, place.line));
    }
    options.emplace_back("delay-places", fmt::format("{}", fmt::join(places, ",")));
  }
  return options;
}

session::Plan plan_of(const std::vector<std::string>& program, const Settings& settings,
                      session::Plan::Expectation expected) {
  session::Plan plan;
  plan.program = fmt::format("{}", fmt::join(program, " "));
  plan.seed = settings.seed;
  for (const auto& [name, value] : weakness_options(settings)) {
    plan.weakness[name] = value;
  }
  plan.decisions = settings.weakness.decisions.value_or(std::vector<emulator::Decision>());
  for (const weak_memory::Fence& fence : settings.fences) {
    plan.fences.push_back(
        {.edit = {.at = fence.place.at,
                  .change = ptx::InsertFence{.fence = fence.fence, .is_before = fence.is_before}},
         .line = 0});
  }
  for (const ptx::OrderEdit& edit : settings.edits) {
    plan.fences.push_back({.edit = edit, .line = 0});
  }
  if (!expected.failure.empty()) {
    plan.expectation = std::move(expected);
  }
  return plan;
}

}  // namespace barracuda::cli

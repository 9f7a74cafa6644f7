// The whole of `barracuda expose`: runs without weakness, runs directed by races, random runs, and
// the cause of each failure. Decides which runs to make and what they mean; makes none itself and
// prints nothing.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "report/race_report.h"
#include "weak_memory/experiment.h"
#include "weak_memory/oracle.h"
#include "weak_memory/reference_runs.h"
#include "weak_memory/statistics.h"
#include "weak_memory/store_buffer/root_cause.h"
#include "weak_memory/trials.h"

namespace barracuda::weak_memory {

struct CampaignOptions {
  std::uint64_t first_seed = 1;  // each further run of a stage has the next one
  std::uint64_t references = 5;
  std::uint64_t runs = 40;  // of each random stage
  std::vector<double> probabilities = {1, 0.75, 0.5, 0.25};
  std::uint64_t per_race = 20;
  std::uint64_t trials = 20;  // runs behind each answer of the search for the cause
  bool directed = true;
  bool stores_only = false;  // no stale reads, no late loads
  bool late_loads = true;    // beside stale reads
  bool all = false;          // goes on after the first failure
  bool root_cause = true;
  // A run with a seed is the same each time, and tells what was made weak. Not on a GPU: there
  // everything is judged by rates, stores alone are delayed, and races direct nothing.
  bool is_repeatable = true;
  // On a GPU: `runs` of each of the environments (environments.h), in turn, instead of delays
  // alone.
  bool stresses = false;
};

// "one race of 3, delayed stores", for progress.
using TellStage = std::function<void(const std::string& stage)>;

// What has become of a race.
struct RaceEffect {
  enum class Effect : std::uint8_t { kHarmful, kStarving, kNotShown, kNotTried };

  report::Finding race;
  Effect effect = Effect::kNotTried;
  std::uint64_t tries = 0;
  Failure failure = Failure::kNone;  // of a harmful one
};

struct ExposedFailure {
  Failure failure = Failure::kNone;
  Settings settings;        // of the run that showed it
  std::string environment;  // "delayed stores at the writes of race 1", "p = 0.75"
  Rate rate;                // with other seeds
  // The run of this seed gives the same each time; if not, rates were compared.
  bool is_repeatable = true;
  std::vector<RootCause> causes;
};

// How often the program failed in an environment, confirmed or not.
struct EnvironmentRate {
  std::string name;
  Rate rate;
};

struct CampaignResult {
  ReferenceRuns references;
  std::vector<RaceEffect> races;  // harmful ones first
  std::vector<ExposedFailure> failures;
  std::vector<EnvironmentRate> environments;     // in their order; empty if there is no stress
  std::vector<emulator::WeakEvent> starvations;  // one for each place
  // Runs that failed with weakness, and with the same seed without it too.
  std::uint64_t failures_of_schedule = 0;
  std::uint64_t weak_runs = 0;       // directed and random ones
  std::uint64_t runs = 0, lost = 0;  // all that were made, and that could not be
  std::string reason_of_loss;
  bool is_incomplete = false;  // ended before all stages were over
  // How many drains found how many stores.
  std::array<emulator::DrainLengths, emulator::kWeakSpaces> drains{};
};

CampaignResult run_campaign(const CampaignOptions& options, Trials& trials, const TellStage& tell);

}  // namespace barracuda::weak_memory

// The whole of `barracuda harden`: runs without weakness, which say what is right, the search for
// the fences that weak memory shows to be needed, and runs that show that they suffice. Decides
// which runs to make and what they mean; makes none itself and prints nothing. What it finds is
// empirically, not formally, right: no run failed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/hardening_report.h"
#include "weak_memory/campaign.h"
#include "weak_memory/fence_search/reduction.h"
#include "weak_memory/reference_runs.h"
#include "weak_memory/statistics.h"
#include "weak_memory/trials.h"

namespace barracuda::weak_memory {

struct HardeningOptions {
  std::uint64_t first_seed = 1;  // each further run has the next one
  std::uint64_t references = 5;
  std::uint64_t iterations = 32;  // runs behind each answer; twice as many after each failure
  std::uint64_t stable = 500;     // runs without a failure behind the result
  std::vector<double> probabilities = {1, 0.75, 0.5, 0.25};
  bool stores_only = false;   // no stale reads, no late loads: then no reader needs a fence
  bool keeps_fences = false;  // the program's own are not tried
  bool measures_cost = false;
  // A run with a seed is the same each time. Not on a GPU: there the runs are made in those
  // environments (environments.h) in which the program fails most without any fence, and scopes are
  // not narrowed, for what is rewritten shows none.
  bool is_repeatable = true;
  bool stresses = false;  // then: stress is among these, not only delayed stores
};

// What the kernels cost with some fences.
struct FenceCost {
  std::string fences;                // "none", "its own", "all", "reduced"
  emulator::ExecutionCounts counts;  // in the middle of some schedules
  // On a GPU: the middle ones of some runs; without launches nothing was timed.
  session::KernelTime time;
};

struct HardeningResult {
  enum class End : std::uint8_t {
    kNotTried,  // no reference run could be made, or no kernel ran
    kReferenceFails,
    kNoPlaces,  // the kernels access no memory that threads share
    kNotCured,  // it fails with a fence behind every access too
    kReduced,
    kIncomplete,  // what is kept passed its runs, but less would do or it was not shown stable
  };

  End end = End::kNotTried;
  ReferenceRuns references;
  std::size_t places = 0;  // candidates that would be added
  std::size_t own = 0;     // and those of the program
  std::vector<CandidateFence> kept, left_out_own;
  // Where runs do not repeat: how often it fails without any fence, in each environment, and in
  // which of them all other runs were made.
  std::vector<EnvironmentRate> environments;
  std::vector<std::string> chosen;
  Rate as_it_is;  // the program with its own fences alone, under the same weakness
  Failure failure = Failure::kNone;  // the first that was seen
  std::uint64_t iterations = 0;      // that the last search needed
  std::uint64_t stable_runs = 0;     // with what is kept, without a failure
  std::uint64_t runs = 0, lost = 0;
  std::string reason_of_loss;
  std::vector<FenceCost> costs;  // empty: nobody asked, or the time was over
};

// What has been found, as the report has it. `fences_file` is left to who writes it.
report::HardeningReport report_of(const HardeningResult& result);

HardeningResult harden(const HardeningOptions& options, Trials& trials, const TellStage& tell);

}  // namespace barracuda::weak_memory

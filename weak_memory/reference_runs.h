// Runs without weakness: what they agree in is what every other run is judged by.
#pragma once

#include <cstdint>

#include "report/race_report.h"
#include "weak_memory/oracle.h"
#include "weak_memory/trials.h"

namespace barracuda::weak_memory {

struct ReferenceRuns {
  std::uint64_t made = 0, failures = 0;
  Failure failure = Failure::kNone;  // of the first that failed
  int status = 0, check_status = 0;  // of that one
  bool is_output_unstable = false;   // outputs are not compared
  // Their findings together; kernels and launches are those of one run.
  report::Report report;

  // Weak memory can be blamed for what goes wrong from now on.
  [[nodiscard]] bool are_good() const {
    return made != 0 && failures == 0 && report.coverage.launches != 0;
  }
};

// With `count` seeds from the first on. The oracle of `trials` learns from them.
ReferenceRuns make_reference_runs(Trials& trials, std::uint64_t first_seed, std::uint64_t count);

}  // namespace barracuda::weak_memory

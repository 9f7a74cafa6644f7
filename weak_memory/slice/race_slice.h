// Races of a recorded run as litmus tests, and whether the PTX model shows them; and what of a race
// is left in a run of the repaired program (docs/decisions/slices.md).
#pragma once

#include <string>
#include <vector>

#include "base/expected.h"
#include "host_detector/detector_options.h"
#include "report/lack.h"

namespace barracuda::weak_memory {

struct RaceSlice {
  std::string kernel;         // mangled
  std::string first, second;  // the instructions, FUNCTION#ORDINAL
  std::string lines;          // "app.cu:12 and app.cu:31"
  std::string text;           // the litmus test; empty: there is none
  bool is_shown = false;      // the model has an execution with this race
  std::string why_not;        // there is no slice, or it does not show the race, a clause
};

// One for each race of the run. As far as the trace can be read; errors: not at all.
Expected<std::vector<RaceSlice>> slice_races(const std::string& trace,
                                             const detector::DetectorOptions& options);

// Whether a repair is proved for the idiom of a race: the model shows the race in the slice of the
// program as it is, and in no slice of the repaired one.
struct IdiomProof {
  std::string why_not;        // a clause; empty: it is
  std::string before, after;  // the litmus tests, as far as there are some
};

// `lacks`: those of the race. The traces: of the program as it is, and with the edits.
Expected<IdiomProof> prove_repair(const std::vector<report::Lack>& lacks, const std::string& before,
                                  const std::string& after,
                                  const detector::DetectorOptions& options);

}  // namespace barracuda::weak_memory

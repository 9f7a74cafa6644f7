// `barracuda fix`: looks for the fewest and cheapest edits under which a program's races are gone,
// and its failures under weak memory with them. Decides which runs to make and what they mean;
// makes none itself and prints nothing.
//
// The re-check is the gate: edits are kept only if in the runs with them no race is there that was
// not there before, no barrier parts, nothing hangs and nothing fails that did not without them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "report/race_report.h"
#include "weak_memory/campaign.h"
#include "weak_memory/race_slice.h"
#include "weak_memory/repair/candidates.h"
#include "weak_memory/trials.h"

namespace barracuda::weak_memory {

// What stands behind a repair, the weakest first.
enum class Standing : std::uint8_t {
  kDetector,    // the happens-before of the runs made
  kSimulation,  // and runs whose stores were late and whose loads were stale at the races
  kProof,       // and every execution of the idiom under the PTX model
};

// Whether the idiom of this race shows it without the edits and in no execution with them, by the
// traces of two runs: of the program as it is, and of the repaired one.
using Prove = std::function<IdiomProof(const std::vector<report::Lack>& lacks,
                                       const std::string& before, const std::string& after)>;

struct RepairOptions {
  std::uint64_t first_seed = 1;
  std::uint64_t seeds = 8;     // schedules behind each answer
  std::uint64_t per_race = 8;  // runs that each race directs
  bool with_barriers = true;   // edits that make threads of a block wait
  Prove prove;                 // empty: nothing is proved
};

struct AppliedEdit {
  Edit edit;
  std::string reason;
  bool is_guess = false;
};

struct OpenRace {
  report::Finding race;
  std::string why;  // it is not repaired, a clause
};

struct Repair {
  report::Report before, after;  // of all schedules, without and with the edits
  std::vector<AppliedEdit> edits;
  std::vector<report::Finding> repaired;  // a finding of each bug that is gone
  std::vector<IdiomProof> proofs;         // of each of these
  std::vector<OpenRace> open;
  Rate failures_before, failures_after;  // of directed runs
  Standing standing = Standing::kDetector;
  std::uint64_t runs = 0, lost = 0;
  std::string reason_of_loss;
  std::uint64_t tried = 0;  // sets of edits
  int check_status = 0;     // of the user's own check, after the first run
  bool is_incomplete = false;
};

// The code of a program's modules, from what a run wrote of it. Errors: those of the parser.
using ReadCode = std::function<Expected<ProgramCode>(const std::vector<std::string>& ptx)>;

Repair find_repair(const RepairOptions& options, Trials& trials, const OracleRules& rules,
                   const ReadCode& read_code, const TellStage& tell);

}  // namespace barracuda::weak_memory

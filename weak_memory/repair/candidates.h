// What may repair a race, from what the detector says is missing: the table of candidates, cheapest
// first. Nothing here is believed before runs have shown it (search.h).
#pragma once

#include <string>
#include <vector>

#include "report/lack.h"
#include "weak_memory/repair/code_edits.h"
#include "weak_memory/repair/edit.h"

namespace barracuda::weak_memory {

struct Candidate {
  std::vector<Edit> edits;  // all of them
  std::string reason;       // a clause: what it does
  // Not what the detector saw to be missing: it saw no hand-over, and the code has one.
  bool is_guess = false;
};

// In the order in which they are to be tried. `with_barriers`: those that make threads wait, too.
std::vector<Candidate> candidates_for(const report::Lack& lack, const ProgramCode& code,
                                      bool with_barriers);

// Why there are none, a clause: what it takes instead.
std::string why_no_candidates(const report::Lack& lack);

}  // namespace barracuda::weak_memory

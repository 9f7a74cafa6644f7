// What may repair a race, from what the detector says is missing: the table of candidates, cheapest
// first. Nothing here is believed before runs have shown it (search.h).
#pragma once

#include <string>
#include <vector>

#include "ptx/code_view.h"
#include "report/lack.h"
#include "weak_memory/repair/edit.h"

namespace barracuda::weak_memory {

// The code of all modules that a program loads.
class ProgramCode {
 public:
  explicit ProgramCode(std::vector<ptx::CodeView> modules) : modules_(std::move(modules)) {}

  // Null: no module has that instruction; of several that do, the first.
  [[nodiscard]] const ptx::CodeView* module_of(const ptx::StatementName& name) const;
  [[nodiscard]] const ptx::CodeView* module_of(const std::string& name) const;

 private:
  std::vector<ptx::CodeView> modules_;
};

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

// What `barracuda fix` has found, as plain data: the edits under which races are gone, what stands
// behind them, and the races that no edit cures. The writers (fix_text.h, fix_json.h) print it and
// decide nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/race_report.h"

namespace barracuda::report {

struct FixEdit {
  Frame place;                 // line 0: not known, then `statement` says it
  std::vector<Frame> inlined;  // the whole chain, innermost first
  std::string statement;       // the first PTX statement, FUNCTION#ORDINAL
  std::string where;           // "before", "behind", "behind the loop at", "at" the line
  std::string before, after;   // the PTX instruction; `before` is empty where one is put in
  std::string cuda;            // "__threadfence()"
  std::string reason;
  bool is_guess = false;  // the report of the race could not name it
  std::string no_diff;    // why the source was not edited, a sentence; empty: it was
  std::uint64_t cost = 0;
};

// A race that is gone.
struct RepairedRace {
  Finding race;
  std::string no_proof;  // why the model does not prove it, a clause; empty: it does
};

struct UnrepairedRace {
  Finding race;
  std::string why;
};

struct FixReport {
  Report program, repaired_program;  // of the runs without and with the edits
  std::vector<FixEdit> edits;
  std::vector<RepairedRace> repaired;
  std::vector<UnrepairedRace> open;
  std::uint64_t schedules = 0;
  std::uint64_t failures_before = 0, directed_before = 0;  // of so many directed runs
  std::uint64_t failures_after = 0, directed_after = 0;
  std::string standing;  // "detector", "simulation", "proof"
  std::string diff;      // unified; empty: no line of the source could be edited
  std::vector<std::string> notes;
  std::uint64_t runs = 0, lost = 0;
  std::string tool_failure;
  bool is_incomplete = false;

  // Races of the program, one a bug.
  [[nodiscard]] std::size_t races() const { return repaired.size() + open.size(); }
};

}  // namespace barracuda::report

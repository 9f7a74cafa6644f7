// What `barracuda expose` has found, as plain data: the failures that weak memory causes, the
// fences that are missing, stores that became visible only by their age, and what became of each
// race. The writers (weak_text.h, weak_json.h) print it and decide nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/race_report.h"

namespace barracuda::report {

// A place where a fence is missing: behind that line.
struct MissingFence {
  Frame place;                 // line 0: not known, then `statement` says it
  std::vector<Frame> inlined;  // the whole chain, innermost first
  std::string statement;       // the PTX statement, FUNCTION#ORDINAL
  std::string kernel;          // demangled; empty: several
  std::string kind, scope;     // "acq_rel", "sc"; "gpu", "cta"
  std::string cuda;            // "__threadfence()"
  std::uint64_t runs = 0;      // that do not fail with it, and the others of its cause
};

// One bug behind a failure.
struct WeakCause {
  std::string space;      // "global", "shared", "global and shared"
  std::string kernel;     // demangled; empty: no single one is to blame
  std::string mechanism;  // "delayed-store", "stale-read", "late-load"; empty: not known
  std::string legal_by;   // the rule that allows it
  // Of the run with the fewest decisions: what was delayed or stale, and who read the old value.
  std::vector<Access> weak, readers;
  std::string visible;  // "212 turns of the schedule later, at a release"
  std::uint64_t decisions = 0;
  std::vector<MissingFence> fences;
  std::string no_fences;  // why there are none, a clause; empty if there are
  std::uint64_t candidates = 0;
};

struct WeakFailure {
  std::string failure;      // "output": the name of the JSON report
  std::string description;  // "wrong output"
  std::string environment;
  std::uint64_t runs = 0, failures = 0;
  double least = 0, most = 1;  // between what the true rate lies, with 95 % confidence
  std::vector<WeakCause> causes;
  std::string plan;   // the file that repeats it; empty: none was written
  std::string again;  // the command that does
  bool is_repeatable = true;
};

// A plain store that another thread polled for, and that became visible only by its age.
struct Starvation {
  std::vector<Access> accesses;  // store, poll
  std::uint64_t turns = 0;
};

struct RaceWithEffect {
  Finding race;
  std::string effect;       // "harmful", "starving", "not-shown", "not-tried"
  std::string description;  // "harmful: wrong output"
  std::uint64_t tries = 0;
};

struct WeakReport {
  Report program;  // of the runs without weakness
  std::vector<WeakFailure> failures;
  std::vector<Starvation> starvations;
  std::vector<RaceWithEffect> races;  // harmful ones first
  std::uint64_t references = 0, reference_failures = 0;
  std::string reference_failure;      // its name; empty: none failed
  std::string reference_description;  // "another exit status (3)"
  std::uint64_t weak_runs = 0, runs = 0, lost = 0;
  std::vector<std::string> notes;  // what a reader has to know, a sentence each
  std::string tool_failure;
  bool is_incomplete = false;
  // Lines of tables, if asked for: how long drains were (Figures 3 and 4 of Bugaroo), how often the
  // program failed in which environment.
  std::vector<std::string> tables;

  [[nodiscard]] std::uint64_t missing_fences() const {
    std::uint64_t count = 0;
    for (const WeakFailure& failure : failures) {
      for (const WeakCause& cause : failure.causes) {
        count += cause.fences.size();
      }
    }
    return count;
  }
};

}  // namespace barracuda::report

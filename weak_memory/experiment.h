// One run of the program as a function: what is asked of it, and what it gave. Everything in this
// folder decides by such runs; who makes them (cli/expose) is not known here.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "emulator/execution_counts.h"
#include "emulator/weakness.h"
#include "ptx/edit_order.h"
#include "ptx/fence_places.h"
#include "report/race_report.h"
#include "session/execution_log.h"

namespace barracuda::weak_memory {

// A fence to be added to the program.
struct Fence {
  ptx::FencePlace place;
  ptx::Fence fence;
  bool is_before = false;  // the access of the place; else behind it

  friend bool operator==(const Fence&, const Fence&) = default;
};

// What is made weak. By default nothing is.
struct Weakness {
  double stores = 0, stale_reads = 0, late_loads = 0;  // probabilities
  bool global = true, shared = true;                   // which memory
  std::string kernel;                       // this one alone, by its mangled name; empty: every one
  std::vector<emulator::CodePlace> places;  // these lines alone; empty: every one
  std::string stress;                       // on a GPU, its kind as the option has it; empty: none
  bool shuffled = false;                    // blocks have other numbers
  // Not the draws of `seed` but exactly these, whatever the probabilities.
  std::optional<std::vector<emulator::Decision>> decisions;

  [[nodiscard]] bool is_on() const {
    return stores > 0 || stale_reads > 0 || late_loads > 0 || !stress.empty() || shuffled ||
           decisions.has_value();
  }

  friend bool operator==(const Weakness&, const Weakness&) = default;
};

struct Settings {
  std::uint64_t seed = 1;  // of the schedule and of the draws
  Weakness weakness;
  std::vector<Fence> fences;
  std::vector<ptx::OrderEdit> edits;  // besides the fences; no ReplaceFence
  bool wants_log = false;             // the run is to list its decisions
  bool wants_places = false;          // and the places for fences
  bool wants_counts =
      false;  // and what its kernels execute, or take on a GPU; races are not looked for
  bool wants_ptx = false;    // and the code of its modules, with fences and edits
  bool wants_trace = false;  // and what the detector was given

  friend bool operator==(const Settings&, const Settings&) = default;
};

struct Outcome {
  // Why the run could not be made, a sentence; empty: it was made, and the rest holds.
  std::string lost;
  bool is_over_time = false;
  int status = 0;        // 128 + its number where a signal ended the program
  int check_status = 0;  // of the user's own check
  std::string output;    // what the program wrote to standard output
  double seconds = 0;
  report::Report report;
  emulator::WeakLog log;             // if it is wanted
  emulator::ExecutionCounts counts;  // if they are wanted
  session::KernelTime time;          // the same; of a GPU
  ptx::ModuleFences fences;          // of the launched kernels, if places are wanted
  std::vector<std::string> ptx;      // of each module, if it is wanted
  std::string trace;                 // the file, if it is wanted
};

using RunOnce = std::function<Outcome(const Settings&)>;
// Makes all of them, several at a time where that is possible; the outcomes are in the order of the
// settings. A run that was interrupted says so in Outcome::lost.
using RunAll = std::function<std::vector<Outcome>(const std::vector<Settings>&)>;

RunAll one_by_one(RunOnce run);

}  // namespace barracuda::weak_memory

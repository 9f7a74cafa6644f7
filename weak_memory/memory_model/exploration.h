// What the exploration of a litmus test under one model finds, and its bounds.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "weak_memory/memory_model/program.h"

namespace barracuda::memory_model {

struct ExploreOptions {
  std::uint64_t states = 10'000'000;  // or executions, of a model without states
  double seconds = 60;
  std::uint64_t memory_mib = 4096;
  std::uint32_t unroll = 4;  // how often a jump backwards is taken, where loops are unrolled
  bool reduce = true;        // false: every interleaving, for tests of the reduction
  bool exact = false;        // whole states are kept, not their hashes
  bool progress = false;     // of PTX: whether the program always ends, instead of how (progress.h)
  // Of models with states:
  bool symmetry =
      false;  // states that differ by which of identical threads of a CTA is which are one
  bool shortest = false;  // witnesses of the fewest steps; needs more memory
  // The threads of a CTA are one warp whose lanes issue each instruction together (the thesis's
  // view of a warp); of sc, weak and strong. Nothing is reduced then.
  bool lockstep = false;
  bool races = false;  // models without states: looks for a data race too
  // Asked many times a second, if there is one; true ends the search, incomplete.
  std::function<bool()> stops;
};

// An execution's events, and what relates them; edges name nodes by number.
struct Graph {
  struct Edge {
    std::size_t from = 0, to = 0;
    std::string label;
  };

  std::vector<std::string> nodes;
  std::vector<Edge> edges;
};

// How one execution went: a step or an event a line.
struct Witness {
  std::vector<std::string> lines;
  Graph graph;  // without nodes where the model has none
};

struct Exploration {
  std::map<Final, Witness> finals;
  std::uint64_t states = 0;          // or executions that the axioms were asked about
  std::string bound;                 // that was hit: "10000000 states"; empty: all was explored
  std::optional<Witness> violation;  // of `always`, or of termination (progress.h)
  std::optional<Witness> race;       // an execution with a data race; its first line names it
  std::array<std::uint64_t, 6> killed{};  // partial executions, by axiom (ptx_axioms.h)

  [[nodiscard]] bool is_complete() const { return bound.empty(); }
};

}  // namespace barracuda::memory_model

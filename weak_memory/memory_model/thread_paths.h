// The ways in which one thread can go, when what it reads is guessed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "weak_memory/memory_model/execution.h"
#include "weak_memory/memory_model/exploration.h"
#include "weak_memory/memory_model/program.h"
#include "weak_memory/memory_model/search_end.h"

namespace barracuda::memory_model {

// The values that a location may hold, by location.
using ValueSets = std::vector<std::set<std::uint64_t>>;

struct Path {
  std::vector<Event> events;  // their `dependencies` are numbers within the path
  std::vector<std::uint64_t> registers;
};

// A thread that goes round for ever: its last pass, from event `repeats_from` on, only reads, or
// writes by atomics what they have read, and leaves all that it will ever look at as it was.
struct Spin {
  Path path;
  std::size_t repeats_from = 0;
};

struct Paths {
  std::vector<Path> all;
  std::vector<Spin> spins;
  // What is written on any way, also on one that waits for a value that is not known yet, and how
  // often at most.
  std::set<std::pair<std::uint32_t, std::uint64_t>> written;  // location, value
  std::size_t most_writes = 0;
  bool is_cut_by_unroll = false, is_cut_by_number = false;
};

// A jump backwards is taken `options.unroll` times at most. A pass of a loop that only reads (a
// compare-and-swap that fails does, and an exchange of a value for itself as good as) and leaves
// what is looked at later as it was is left out: it changes nothing that is seen later, and only
// adds to what must hold; but where `options` ask for data races, each path is there also with one
// such pass if an access of it may race. One is enough: a race is of one access of each thread, and
// what a pass reads and what its fences order makes no race of others. `others`: what other threads
// may write; besides, it reads what it wrote last itself, or else what was there at first.
Paths paths_of(const Program& program, std::uint32_t thread, const ValueSets& others,
               const ExploreOptions& options);

// The one path of a thread without jumps, with zero for all that is read.
Paths straight_path_of(const Program& program, std::uint32_t thread);

// The paths of all threads, with all the values that their writes can pass on.
struct PathsOfAll {
  std::vector<Paths> threads;
  std::string bound;        // that was hit, as Exploration has it
  bool is_useless = false;  // the bound leaves nothing that could be explored
};

PathsOfAll all_paths(const Program& program, const ExploreOptions& options, const SearchEnd& end);

}  // namespace barracuda::memory_model

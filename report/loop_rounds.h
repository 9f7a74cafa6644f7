// Where in a loop the order of two racing lines is missing: between them in one round, or between
// one round and the next. Compilers unroll loops: then one source line is several instructions,
// each of another round, and a race of an earlier line's later copy is one across rounds.
#pragma once

#include <vector>

#include "host_detector/race_event.h"
#include "ptx/site_table.h"

namespace barracuda::report {

struct LoopRounds {
  bool within = true;
  bool across = false;
  // Of a race within a warp: a barrier of the block is missing there for another race, of one of
  // its lines and a third, and is enough for both. A tile of a matrix has its rows within warps,
  // and its columns across them.
  bool is_of_block = false;
  // The two are in a loop that all threads of the block are not known to go round together, and no
  // barrier of the block stands in it as it is: there is no place for one.
  bool is_uneven = false;
  // Updates in a loop with a barrier in it, where updates of different places race, or in any loop
  // if these get what each other held: each place has one thread in each round, as in the steps of
  // a sorting network, and the race is between two.
  bool are_steps = false;
};

// Of each race, united over the races of its lines. What is no race of one block, or known to lack
// more than a barrier, is left as it is.
std::vector<LoopRounds> loop_rounds(const std::vector<detector::RaceEvent>& races,
                                    const ptx::SiteTable& sites);

}  // namespace barracuda::report

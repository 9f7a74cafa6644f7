// The natural loops of a function.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/control_flow.h"

namespace barracuda::ptx {

struct Loop {
  std::uint32_t head = 0;      // the block that dominates the others
  std::vector<bool> contains;  // by block
};

// What each back edge goes round: of loops with one head, each by itself.
std::vector<Loop> find_ways_round(const ControlFlow& flow);

// One for each head, those within others behind them.
std::vector<Loop> find_loops(const ControlFlow& flow);

}  // namespace barracuda::ptx

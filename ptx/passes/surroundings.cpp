#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "ptx/analysis/loops.h"
#include "ptx/analysis/program.h"
#include "ptx/loop_number.h"
#include "ptx/passes/passes.h"

namespace barracuda::ptx::surroundings {
namespace {

// Who leaves the function with the loop is not waited for, but the loop is none that all go round.
bool is_uneven(const Loop& loop, const ControlFlow& flow, const std::vector<Uniformity>& uniform) {
  const Uniformity within = uniform[loop.head];
  return within == Uniformity::kSome ||
         (within == Uniformity::kRest &&
          std::ranges::any_of(flow.blocks[loop.head].predecessors, [&](std::uint32_t before) {
            return !loop.contains[before] && uniform[before] == Uniformity::kAll;
          }));
}

// Whether a round of the loop may go past the block.
bool is_skipped(std::uint32_t block, const Loop& loop, const ControlFlow& flow) {
  return std::ranges::any_of(flow.blocks[loop.head].predecessors, [&](std::uint32_t before) {
    return loop.contains[before] && !flow.dominates(block, before);
  });
}

Expected<void> visit(Program& program, std::span<PlannedSite> sites) {
  const std::uint32_t index = sites.front().function;
  TRY(const ControlFlow* const flow, program.flow_of(index));
  const std::vector<Uniformity>& uniform = program.uniform_blocks_of(index);
  const std::vector<Loop> loops = find_loops(*flow);
  for (PlannedSite& site : sites) {
    const std::uint32_t block = flow->block_of(site.statement);
    if (site.hook == HookKind::kNone || block == kNoBlock) {
      continue;
    }
    site.is_divergent = uniform[block] == Uniformity::kSome;
    for (const Loop& loop : loops) {
      if (loop.contains[block]) {
        site.is_skipped = is_skipped(block, loop, *flow);
        site.loops.push_back(is_uneven(loop, *flow, uniform) ? loop.head | kUnevenLoop : loop.head);
      }
    }
  }
  return {};
}

}  // namespace

Expected<void> run(Program& program) {
  return visit_functions(program,
                         [&](std::span<PlannedSite> sites) { return visit(program, sites); });
}

}  // namespace barracuda::ptx::surroundings

#include <cstdint>
#include <span>
#include <vector>

#include "ptx/analysis/loops.h"
#include "ptx/analysis/program.h"
#include "ptx/passes/passes.h"

namespace barracuda::ptx::surroundings {
namespace {

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
        site.loops.push_back(loop.head);
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

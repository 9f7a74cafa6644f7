#include <algorithm>
#include <span>
#include <vector>

#include "ptx/analysis/loops.h"
#include "ptx/analysis/program.h"
#include "ptx/analysis/uniform_blocks.h"
#include "ptx/control_flow.h"
#include "ptx/passes/passes.h"

namespace barracuda::ptx::surroundings {
namespace {

Expected<void> visit(const Program& program, std::span<PlannedSite> sites) {
  const Function& function = program.function(sites.front().function);
  TRY(const ControlFlow flow, build_control_flow(program.module, function));
  const std::vector<Uniformity> uniform = find_uniform_blocks(program.module, function, flow);
  const std::vector<Loop> loops = find_loops(flow);
  for (PlannedSite& site : sites) {
    const std::uint32_t block = flow.block_of(site.statement);
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

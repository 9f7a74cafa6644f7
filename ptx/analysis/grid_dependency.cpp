#include "ptx/analysis/grid_dependency.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "ptx/analysis/near_stops.h"

namespace barracuda::ptx {
namespace {

bool is_of_block(StateSpace space) {
  return space == StateSpace::kShared || space == StateSpace::kLocal ||
         space == StateSpace::kParam || space == StateSpace::kConst;
}

// What may come before the wait: the thread's own and its block's, whose shared memory no other
// launch sees.
bool is_unseen_by_launches(const Effect& effect) {
  using enum OpcodeClass;
  switch (effect.opcode_class) {
    case kLoad:
    case kStore:
    case kAtomic:
    case kReduction:
    case kMatrixAccess:
      return is_of_block(effect.space) && !effect.shared_cluster;
    case kArithmetic:
    case kFence:
    case kProxyFence:
    case kBarrier:
    case kBarrierArrive:
    case kWarpBarrier:
    case kClusterBarrier:
    case kGridDependency:
    case kWarpCollective:
    case kBranch:
    case kReturn:
    case kExit:
    case kTrap:
    case kNoEffect:
      return !effect.not_covered;
    case kMbarrier:
    case kAsyncCopy:
    case kCall:
    case kTexture:
    case kUnknown:
      return false;
  }
  return false;
}

}  // namespace

bool lets_dependents_begin(const Program& program, std::uint32_t entry) {
  return std::ranges::any_of(program.functions[entry].reachable, [&](std::uint32_t index) {
    const Function& function = program.function(index);
    return std::any_of(program.effects.begin() + static_cast<std::ptrdiff_t>(function.body_begin),
                       program.effects.begin() + static_cast<std::ptrdiff_t>(function.body_end),
                       [](const Effect& effect) {
                         return effect.operation == wire::Operation::kLaunchDependents;
                       });
  });
}

Expected<bool> waits_first(Program& program, std::uint32_t entry) {
  const Function& function = program.function(entry);
  std::vector<NearStops::Stop> stops{{.statement = function.body_begin, .is_meant = true}};
  std::vector<std::size_t> seen;
  for (std::size_t i = function.body_begin; i < function.body_end; ++i) {
    const Statement& statement = program.module.statements[i];
    if (statement.kind != StatementKind::kInstruction) {
      continue;
    }
    const Effect& effect = program.effects[i];
    if (effect.operation == wire::Operation::kGridWait && statement.instruction.predicate.empty()) {
      stops.push_back({.statement = i});
    } else if (!is_unseen_by_launches(effect)) {
      seen.push_back(i);
    }
  }
  if (stops.size() == 1) {
    return false;
  }
  TRY(const ControlFlow* const flow, program.flow_of(entry));
  const NearStops waits(*flow, std::move(stops));
  return std::ranges::none_of(seen, [&](std::size_t at) {
    return flow->blocks[flow->block_of(at)].is_reachable && waits.come_before(at);
  });
}

}  // namespace barracuda::ptx

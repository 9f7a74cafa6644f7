#include <algorithm>
#include <cstdint>
#include <span>

#include "base/strong_id.h"
#include "device_logger/memory_order.h"
#include "device_logger/scope_order.h"
#include "ptx/analysis/program.h"
#include "ptx/passes/passes.h"

namespace barracuda::ptx::narrow_kernels {
namespace {

// What may order a thread behind one of another block, as far as its own block is concerned: it
// gives, or takes, more than its block's memory can carry. What is not known may do so.
bool may_order_blocks(const Effect& effect) {
  switch (effect.opcode_class) {
    case OpcodeClass::kFence:
      return !wire::includes(wire::Scope::kCta, effect.scope);
    case OpcodeClass::kLoad:
    case OpcodeClass::kStore:
    case OpcodeClass::kAtomic:
    case OpcodeClass::kReduction:
      return effect.not_covered ||
             ((wire::has_acquire(effect.order) || wire::has_release(effect.order)) &&
              !wire::includes(wire::Scope::kCta, effect.scope));
    case OpcodeClass::kProxyFence:
    case OpcodeClass::kClusterBarrier:
    case OpcodeClass::kMbarrier:
    case OpcodeClass::kAsyncCopy:
    case OpcodeClass::kUnknown:
      return true;
    case OpcodeClass::kArithmetic:
    case OpcodeClass::kMatrixAccess:
    case OpcodeClass::kBarrier:
    case OpcodeClass::kBarrierArrive:
    case OpcodeClass::kWarpBarrier:
    case OpcodeClass::kGridDependency:
    case OpcodeClass::kWarpCollective:
    case OpcodeClass::kBranch:
    case OpcodeClass::kCall:
    case OpcodeClass::kReturn:
    case OpcodeClass::kExit:
    case OpcodeClass::kTrap:
    case OpcodeClass::kNoEffect:
    case OpcodeClass::kTexture:
      return effect.not_covered;
  }
  return true;
}

bool is_narrow(const Program& program, std::uint32_t index) {
  const Function& function = program.function(index);
  const FunctionFacts& facts = program.functions[index];
  const auto is_of_no_account = [&](std::uint32_t other) {
    return other == index ||
           (!program.functions[other].may_log && !program.functions[other].has_fence);
  };
  if (!function.is_entry || facts.calls_indirectly ||
      !std::ranges::all_of(facts.reachable, is_of_no_account)) {
    return false;
  }
  for (std::size_t i = function.body_begin; i < function.body_end; ++i) {
    const bool is_instruction = program.module.statements[i].kind == StatementKind::kInstruction;
    if (is_instruction && (may_order_blocks(program.effects[i]) ||
                           heap_call_at(program.module, function, i).has_value())) {
      return false;
    }
  }
  return true;
}

bool may_fall_silent(const PlannedSite& site) {
  return wire::is_numbered_load_or_store(site.info) && site.effect.space == StateSpace::kGlobal;
}

}  // namespace

Expected<void> run(Program& program) {
  return visit_functions(program, [&](std::span<PlannedSite> sites) -> Expected<void> {
    if (std::ranges::none_of(sites, may_fall_silent) ||
        !is_narrow(program, sites.front().function)) {
      return {};
    }
    std::uint16_t number = 0;
    for (PlannedSite& site : sites) {
      site.may_be_quiet = site.info.operation == wire::Operation::kFence;
      if (site.hook != HookKind::kNone) {
        number = number == 0 ? wire::narrow_kernel_number(site.id) : number;
        site_named(program, site.id).info.narrow_kernel = number;
      }
    }
    return {};
  });
}

}  // namespace barracuda::ptx::narrow_kernels

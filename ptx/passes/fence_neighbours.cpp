#include <optional>
#include <vector>

#include "device_logger/scope_order.h"
#include "ptx/analysis/program.h"
#include "ptx/passes/passes.h"

namespace barracuda::ptx::fence_neighbours {
namespace {

using wire::FenceScope;

FenceScope reach_of(wire::Scope scope) {
  return scope == wire::Scope::kCta ? FenceScope::kBlock : FenceScope::kGlobal;
}

// Looks for the fences of one function that nothing separates from a place: no other access to
// memory that other threads see, no barrier, no call.
class Neighbours {
 public:
  Neighbours(const Program& program, const ControlFlow& flow)
      : program_(program),
        flow_(flow),
        ahead_(flow.blocks.size(), FenceScope::kNone),
        behind_(flow.blocks.size(), FenceScope::kNone) {
    for (bool changes = true; changes;) {
      changes = false;
      for (std::size_t i = 0; i < flow.blocks.size(); ++i) {
        const BasicBlock& block = flow.blocks[i];
        const FenceScope ahead = ahead_of(block, block.begin);
        const FenceScope behind = behind_of(block, block.end);
        changes = changes || ahead != ahead_[i] || behind != behind_[i];
        ahead_[i] = ahead;
        behind_[i] = behind;
      }
    }
  }

  // Of several paths, the widest fence.
  [[nodiscard]] FenceScope after(std::size_t statement) const {
    return ahead_of(flow_.blocks[flow_.block_of(statement)], statement + 1);
  }

  [[nodiscard]] FenceScope before(std::size_t statement) const {
    return behind_of(flow_.blocks[flow_.block_of(statement)], statement);
  }

 private:
  // A fence, or kNone for what separates; nothing for what does not matter.
  [[nodiscard]] std::optional<FenceScope> at(std::size_t statement) const {
    if (program_.module.statements[statement].kind != StatementKind::kInstruction) {
      return std::nullopt;
    }
    if (const auto scope = fence_at(program_, statement)) {
      return reach_of(*scope);
    }
    const Effect& effect = program_.effects[statement];
    const OpcodeClass c = effect.opcode_class;
    const bool separates = may_touch_shared(effect) || c == OpcodeClass::kCall ||
                           c == OpcodeClass::kBarrier || c == OpcodeClass::kBarrierArrive ||
                           c == OpcodeClass::kWarpBarrier || c == OpcodeClass::kClusterBarrier ||
                           c == OpcodeClass::kMbarrier || c == OpcodeClass::kAsyncCopy;
    return separates ? std::optional(FenceScope::kNone) : std::nullopt;
  }

  [[nodiscard]] FenceScope ahead_of(const BasicBlock& block, std::size_t from) const {
    for (std::size_t i = from; i < block.end; ++i) {
      if (const auto found = at(i)) {
        return *found;
      }
    }
    FenceScope widest = FenceScope::kNone;
    for (const std::uint32_t next : block.successors) {
      widest = wider(widest, ahead_[next]);
    }
    return widest;
  }

  [[nodiscard]] FenceScope behind_of(const BasicBlock& block, std::size_t to) const {
    for (std::size_t i = to; i > block.begin; --i) {
      if (const auto found = at(i - 1)) {
        return *found;
      }
    }
    FenceScope widest = FenceScope::kNone;
    for (const std::uint32_t previous : block.predecessors) {
      widest = wider(widest, behind_[previous]);
    }
    return widest;
  }

  const Program& program_;
  const ControlFlow& flow_;
  std::vector<FenceScope> ahead_, behind_;  // from a block's begin on, and from its end back
};

struct Role {
  FenceScope acquires = FenceScope::kNone, releases = FenceScope::kNone;
};

// What the instruction says itself, which none of the paper's time did.
Role written_role(const PlannedSite& site) {
  using enum wire::MemoryOrder;
  const wire::MemoryOrder order = site.info.order;
  const bool is_both = order == kAcqRel || order == kSeqCst;
  Role role;
  if (order == kAcquire || (is_both && site.info.operation != wire::Operation::kWrite)) {
    role.acquires = reach_of(site.info.scope);
  }
  if (order == kRelease || (is_both && site.info.operation != wire::Operation::kRead)) {
    role.releases = reach_of(site.info.scope);
  }
  return role;
}

// A CAS obtains a lock, an exchange frees one: with the fence on the other side they do not.
Role role_of_atomic(const PlannedSite& site, const Instruction& instruction, FenceScope before,
                    FenceScope after) {
  const bool is_between = before != FenceScope::kNone && after != FenceScope::kNone;
  if (is_between) {
    return {.acquires = after, .releases = before};
  }
  if (site.effect.is_cas) {
    return {.acquires = after};
  }
  if (instruction.has(Modifier::kExch)) {
    return {.releases = before};
  }
  const FenceScope either = before != FenceScope::kNone ? before : after;
  return {.acquires = either, .releases = either};
}

Role role_of(const PlannedSite& site, const Instruction& instruction,
             const Neighbours& neighbours) {
  const FenceScope before = neighbours.before(site.statement);
  const FenceScope after = neighbours.after(site.statement);
  if (site.info.operation == wire::Operation::kRead) {
    return {.acquires = after};
  }
  if (site.info.operation == wire::Operation::kWrite) {
    return {.releases = before};
  }
  return role_of_atomic(site, instruction, before, after);
}

HookKind hook_of(wire::Operation operation) {
  return operation == wire::Operation::kRead     ? HookKind::kAcquire
         : operation == wire::Operation::kAtomic ? HookKind::kAtomic
                                                 : HookKind::kRelease;
}

bool may_synchronise(const PlannedSite& site) {
  return is_shared_access(site.effect) && site.info.element_bytes > 0 &&
         site.info.asynchrony == wire::Asynchrony::kNone &&
         site.info.proxy == wire::Proxy::kGeneric;
}

}  // namespace

Expected<void> run(Program& program) {
  if (!program.options.for_paper) {
    return {};
  }
  for (std::size_t first = 0; first < program.sites.size();) {
    const std::uint32_t index = program.sites[first].function;
    TRY(const ControlFlow* const flow, program.flow_of(index));
    const Neighbours neighbours(program, *flow);
    for (; first < program.sites.size() && program.sites[first].function == index; ++first) {
      PlannedSite& site = program.sites[first];
      if (site.info.operation == wire::Operation::kMbarrierArrive) {
        site.info.releases = neighbours.before(site.statement);
      }
      if (!may_synchronise(site)) {
        continue;
      }
      const Role written = written_role(site);
      const Role found =
          role_of(site, program.module.statements[site.statement].instruction, neighbours);
      site.info.acquires = wider(written.acquires, found.acquires);
      site.info.releases = wider(written.releases, found.releases);
      if (site.info.acquires != FenceScope::kNone || site.info.releases != FenceScope::kNone) {
        site.info.numbered = true;
        site.hook = hook_of(site.info.operation);
      }
    }
  }
  return {};
}

}  // namespace barracuda::ptx::fence_neighbours

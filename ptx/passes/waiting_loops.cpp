#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_set.hpp>

#include "ptx/analysis/constants.h"
#include "ptx/analysis/failed_swap.h"
#include "ptx/analysis/load_or_store.h"
#include "ptx/analysis/program.h"
#include "ptx/control_flow.h"
#include "ptx/passes/passes.h"

namespace barracuda::ptx::waiting_loops {
namespace {

bool is_fence(const PlannedSite& site) {
  return site.hook == HookKind::kEvent && site.effect.opcode_class == OpcodeClass::kFence;
}

// An atomic that leaves what it reads, whatever that is: `atomicAdd(&flag, 0)` is how programs load
// a word that others change by atomics. Nobody can tell its write from the one before.
bool only_looks(const PlannedSite& site, const Instruction& instruction) {
  const auto is_zero = [](const Operand& operand) {
    return operand.kind == Operand::Kind::kInteger && operand.bits == 0;
  };
  const auto& operands = instruction.operands;
  if (site.hook != HookKind::kAtomic || instruction.opcode != Opcode::kAtom ||
      site.sub_word.word != 0 || operands.size() < 3 ||
      operands[0].kind != Operand::Kind::kRegister) {
    return false;
  }
  return site.effect.is_cas ? operands.size() > 3 && operands[2].text == operands[3].text
                            : is_zero(operands[2]) && (instruction.has(Modifier::kAdd) ||
                                                       instruction.has(Modifier::kOr) ||
                                                       instruction.has(Modifier::kXor));
}

bool is_plain_swap(const PlannedSite& site, const Instruction& instruction) {
  return site.hook == HookKind::kAtomic && site.effect.is_cas && site.sub_word.word == 0 &&
         !site.effect.shared_cluster && instruction.predicate.empty() &&
         (site.info.element_bytes == 4 || site.info.element_bytes == 8) &&
         instruction.operands[0].kind == Operand::Kind::kRegister;
}

// Locks that are tried until they are free, and what is computed anew until nobody has changed it
// meanwhile.
void mark_tries(const Program& program, const ControlFlow& flow, std::span<PlannedSite> sites) {
  const auto is_swap = [&](const PlannedSite& site) {
    return is_plain_swap(site, program.module.statements[site.statement].instruction);
  };
  if (std::ranges::none_of(sites, is_swap)) {
    return;
  }
  const Constants constants(program.module, program.function(sites.front().function));
  for (PlannedSite& site : sites) {
    site.looks_first = is_swap(site) && is_only_made_again(program, flow, constants, sites, site);
  }
}

class WaitingLoops {
 public:
  WaitingLoops(const Program& program, const ControlFlow& flow) : program_(program), flow_(flow) {}

  // Of the sites of one function.
  void mark(std::span<PlannedSite> sites) const {
    auto site = sites.begin();
    for (std::uint32_t i = 0; i < flow_.blocks.size(); ++i) {
      const BasicBlock& block = flow_.blocks[i];
      const auto end = std::find_if(
          site, sites.end(), [&](const PlannedSite& each) { return each.statement >= block.end; });
      if (std::ranges::find(block.successors, i) != block.successors.end()) {
        mark(block, {site, end});
      }
      site = end;
    }
  }

 private:
  void mark(const BasicBlock& block, std::span<PlannedSite> sites) const {
    const PlannedSite* const load = only_load(sites);
    if (load == nullptr) {
      return;
    }
    const std::size_t branch = find_branch(block);
    if (branch != block.end && keeps_result(block, branch, *load)) {
      for (PlannedSite& site : sites) {
        site.logged_behind = branch;
      }
    }
  }

  // Beside fences; null if there is anything else.
  [[nodiscard]] const PlannedSite* only_load(std::span<const PlannedSite> sites) const {
    const PlannedSite* load = nullptr;
    for (const PlannedSite& site : sites) {
      const bool loads =
          (site.hook == HookKind::kAcquire && site.effect.opcode_class == OpcodeClass::kLoad) ||
          only_looks(site, program_.module.statements[site.statement].instruction);
      if (loads && load == nullptr) {
        load = &site;
      } else if (!is_fence(site)) {
        return nullptr;
      }
    }
    return load;
  }

  // The last instruction, if it goes back or on; else the block's end.
  [[nodiscard]] std::size_t find_branch(const BasicBlock& block) const {
    for (std::size_t i = block.end; i-- > block.begin;) {
      const Statement& statement = program_.module.statements[i];
      if (statement.kind == StatementKind::kInstruction) {
        const bool may_go_on = program_.effects[i].opcode_class == OpcodeClass::kBranch &&
                               !statement.instruction.predicate.empty();
        return may_go_on ? i : block.end;
      }
      if (statement.kind != StatementKind::kLocation) {
        return block.end;
      }
    }
    return block.end;
  }

  // Behind the branch, address and result of the load are what they are in the loop's last turn,
  // and nothing else has been done that others see.
  [[nodiscard]] bool keeps_result(const BasicBlock& block, std::size_t branch,
                                  const PlannedSite& load) const {
    const Instruction& instruction = program_.module.statements[load.statement].instruction;
    boost::unordered_flat_set<std::string_view> kept;
    for (const Operand& operand : instruction.operands) {
      visit_registers(operand, [&](const Operand& name) { kept.insert(name.name); });
    }
    bool keeps = instruction.predicate.empty();
    for (std::size_t i = block.begin; i < branch; ++i) {
      const Statement& statement = program_.module.statements[i];
      const bool is_scope = statement.kind == StatementKind::kBlockOpen ||
                            statement.kind == StatementKind::kBlockClose;
      keeps = keeps && !is_scope;
      if (statement.kind == StatementKind::kInstruction && i != load.statement) {
        keeps = keeps && is_harmless(program_.effects[i]) && !writes(statement.instruction, kept);
      }
    }
    return keeps;
  }

  static bool is_harmless(const Effect& effect) {
    return touches_no_memory(effect) ||
           (!effect.not_covered && effect.opcode_class == OpcodeClass::kFence);
  }

  static bool writes(const Instruction& instruction,
                     const boost::unordered_flat_set<std::string_view>& registers) {
    bool found = false;
    if (!instruction.operands.empty()) {
      visit_registers(instruction.operands[0],
                      [&](const Operand& name) { found = found || registers.contains(name.name); });
    }
    return found;
  }

  const Program& program_;
  const ControlFlow& flow_;
};

}  // namespace

Expected<void> run(Program& program) {
  if (program.options.for_paper) {
    return {};
  }
  return visit_functions(program, [&](std::span<PlannedSite> sites) -> Expected<void> {
    if (std::ranges::none_of(sites, [](const PlannedSite& site) {
          return site.hook == HookKind::kAcquire || site.hook == HookKind::kAtomic;
        })) {
      return {};
    }
    TRY(const ControlFlow* const flow, program.flow_of(sites.front().function));
    WaitingLoops(program, *flow).mark(sites);
    mark_tries(program, *flow, sites);
    return {};
  });
}

}  // namespace barracuda::ptx::waiting_loops

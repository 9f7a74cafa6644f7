#include "ptx/analysis/spins.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include <boost/unordered/unordered_flat_set.hpp>

#include "ptx/analysis/constants.h"
#include "ptx/analysis/loops.h"
#include "ptx/control_flow.h"

namespace barracuda::ptx {
namespace {

bool may_be_awaited(const Statement& statement, const Effect& effect) {
  return statement.kind == StatementKind::kInstruction &&
         effect.opcode_class == OpcodeClass::kLoad && is_shared_access(effect) &&
         effect.order != wire::MemoryOrder::kWeak && !statement.instruction.operands.empty();
}

// The branch at the end of the block is decided by what a load in it found.
bool branches_by_load(const Program& program, const BasicBlock& block) {
  boost::unordered_flat_set<std::string_view> depends;
  for (std::size_t i = block.begin; i < block.end; ++i) {
    const Statement& statement = program.module.statements[i];
    if (statement.kind != StatementKind::kInstruction) {
      continue;
    }
    const Instruction& instruction = statement.instruction;
    const Effect& effect = program.effects[i];
    if (effect.opcode_class == OpcodeClass::kBranch) {
      return depends.contains(instruction.predicate);
    }
    if (instruction.operands.empty()) {
      continue;
    }
    bool is_from_load = may_be_awaited(statement, effect);
    for (std::size_t operand = 1; operand < instruction.operands.size(); ++operand) {
      visit_registers(instruction.operands[operand], [&](const Operand& name) {
        is_from_load = is_from_load || depends.contains(name.name);
      });
    }
    visit_registers(instruction.operands[0], [&](const Operand& name) {
      if (is_from_load) {
        depends.insert(name.name);
      } else if (instruction.predicate.empty()) {
        depends.erase(name.name);
      }
    });
  }
  return false;
}

// A load in a block of the loop decides whether it goes on.
bool awaits(const Program& program, const ControlFlow& flow, const Loop& loop) {
  for (std::uint32_t block = 0; block < flow.blocks.size(); ++block) {
    const auto leaves = [&](std::uint32_t successor) { return !loop.contains[successor]; };
    if (loop.contains[block] && std::ranges::any_of(flow.blocks[block].successors, leaves) &&
        branches_by_load(program, flow.blocks[block])) {
      return true;
    }
  }
  return false;
}

}  // namespace

bool spins(Program& program, std::uint32_t index) {
  const Function& function = program.function(index);
  bool may_spin = false;
  for (std::size_t i = function.body_begin; i < function.body_end && !may_spin; ++i) {
    may_spin = may_be_awaited(program.module.statements[i], program.effects[i]);
  }
  if (!may_spin) {
    return false;
  }
  const auto found = program.flow_of(index);
  if (!found) {
    return false;  // another pass says what is wrong with it
  }
  const ControlFlow& flow = **found;
  return std::ranges::any_of(find_ways_round(flow),
                             [&](const Loop& loop) { return awaits(program, flow, loop); });
}

}  // namespace barracuda::ptx

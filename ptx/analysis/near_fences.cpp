#include "ptx/analysis/near_fences.h"

#include <algorithm>
#include <iterator>

namespace barracuda::ptx {
namespace {

bool is_block_barrier(const Instruction& instruction, const Effect& effect) {
  return effect.opcode_class == OpcodeClass::kBarrier && effect.count_operand < 0 &&
         instruction.predicate.empty();
}

bool is_fence(const Effect& effect) {
  return effect.opcode_class == OpcodeClass::kFence ||
         effect.opcode_class == OpcodeClass::kProxyFence;
}

}  // namespace

NearFences::NearFences(const Program& program, const Function& function, const ControlFlow& flow)
    : flow_(flow), ahead_(flow.blocks.size()), behind_(flow.blocks.size()) {
  for (std::size_t i = function.body_begin; i < function.body_end; ++i) {
    const Statement& statement = program.module.statements[i];
    if (statement.kind == StatementKind::kInstruction &&
        (is_fence(program.effects[i]) ||
         is_block_barrier(statement.instruction, program.effects[i]))) {
      stops_.push_back({.statement = i, .is_fence = is_fence(program.effects[i])});
    }
  }
  for (bool changes = true; changes;) {
    changes = false;
    for (std::uint32_t i = 0; i < flow.blocks.size(); ++i) {
      const BasicBlock& block = flow.blocks[i];
      const bool leads = leads_to_fence(block.begin, block);
      changes = changes || leads != ahead_[i];
      ahead_[i] = leads;
      const bool follows = follows_fence(block.end, i);
      for (const std::uint32_t next : block.successors) {
        changes = changes || (follows && !behind_[next]);
        behind_[next] = behind_[next] || follows;
      }
    }
  }
}

bool NearFences::comes_before(std::size_t statement) const {
  return follows_fence(statement, flow_.block_of(statement));
}

bool NearFences::comes_after(std::size_t statement) const {
  return leads_to_fence(statement + 1, flow_.blocks[flow_.block_of(statement)]);
}

bool NearFences::leads_to_fence(std::size_t begin, const BasicBlock& block) const {
  const auto stop = std::ranges::lower_bound(stops_, begin, {}, &Stop::statement);
  if (stop != stops_.end() && stop->statement < block.end) {
    return stop->is_fence;
  }
  return std::ranges::any_of(block.successors, [&](std::uint32_t next) { return ahead_[next]; });
}

bool NearFences::follows_fence(std::size_t end, std::uint32_t block) const {
  const auto past = std::ranges::lower_bound(stops_, end, {}, &Stop::statement);
  if (past != stops_.begin() && std::prev(past)->statement >= flow_.blocks[block].begin) {
    return std::prev(past)->is_fence;
  }
  return behind_[block];
}

}  // namespace barracuda::ptx

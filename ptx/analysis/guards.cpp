#include "ptx/analysis/guards.h"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace barracuda::ptx {
namespace {

constexpr std::size_t kMostComparisons = 16;
constexpr int kDeepest = 8;  // of predicates made of predicates

// The last instruction of a block; null if there is none.
const Instruction* last_of(const Program& program, const BasicBlock& block) {
  for (std::size_t i = block.end; i-- > block.begin;) {
    const Statement& statement = program.module.statements[i];
    if (statement.kind == StatementKind::kInstruction) {
      return &statement.instruction;
    }
  }
  return nullptr;
}

// Of `setp`, if it has that value.
std::optional<Comparison> comparison_of(const Instruction& setp, bool value) {
  struct Relation {
    Modifier name;
    bool is_less, may_be_equal;
  };

  constexpr Relation kRelations[] = {
      {.name = Modifier::kLt, .is_less = true, .may_be_equal = false},
      {.name = Modifier::kLe, .is_less = true, .may_be_equal = true},
      {.name = Modifier::kGt, .is_less = false, .may_be_equal = false},
      {.name = Modifier::kGe, .is_less = false, .may_be_equal = true}};
  const auto* const relation =
      std::ranges::find_if(kRelations, [&](const Relation& each) { return setp.has(each.name); });
  if (relation == std::end(kRelations) || setp.operands.size() != 3) {
    return std::nullopt;
  }
  const bool is_less = relation->is_less == value;
  return Comparison{.less = &setp.operands[is_less ? 1 : 2],
                    .more = &setp.operands[is_less ? 2 : 1],
                    .may_be_equal = relation->may_be_equal == value,
                    .type = setp.last_type()};
}

}  // namespace

std::vector<Comparison> Guards::at(std::size_t statement) const {
  std::vector<Comparison> found;
  for (std::uint32_t i = flow_.block_of(statement); i != kNoBlock;
       i = flow_.blocks[i].immediate_dominator) {
    const BasicBlock& block = flow_.blocks[i];
    if (block.predecessors.size() != 1) {
      continue;
    }
    const std::uint32_t before = block.predecessors.front();
    const Instruction* const branch = last_of(program_, flow_.blocks[before]);
    const auto& ways = flow_.blocks[before].successors;
    if (branch != nullptr && branch->opcode == Opcode::kBra && !branch->predicate.empty() &&
        ways.size() == 2 && ways[0] != ways[1]) {
      const bool is_taken = i != before + 1;
      add(branch->predicate, is_taken != branch->predicate_negated, 0, found);
    }
  }
  return found;
}

void Guards::add(std::string_view predicate, bool value, int depth,
                 std::vector<Comparison>& comparisons) const {
  const RegisterUses::Register* const found = uses_.find(predicate);
  if (found == nullptr || !found->is_written_once() || depth == kDeepest ||
      comparisons.size() == kMostComparisons) {
    return;
  }
  const Instruction& made = program_.module.statements[found->definitions[0]].instruction;
  if (!made.predicate.empty()) {
    return;
  }
  if (made.opcode == Opcode::kSetp) {
    if (const auto comparison = comparison_of(made, value)) {
      comparisons.push_back(*comparison);
    }
    return;
  }
  const bool decides_both = (made.opcode == Opcode::kAnd && value) ||
                            (made.opcode == Opcode::kOr && !value) || made.opcode == Opcode::kNot;
  if (decides_both && made.last_type() == ScalarType::kPred) {
    for (std::size_t i = 1; i < made.operands.size(); ++i) {
      const Operand& operand = made.operands[i];
      const bool flips = operand.negated != (made.opcode == Opcode::kNot);
      add(operand.name, value != flips, depth + 1, comparisons);
    }
  }
}

}  // namespace barracuda::ptx

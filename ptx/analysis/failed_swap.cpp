#include "ptx/analysis/failed_swap.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "ptx/analysis/load_or_store.h"
#include "ptx/type_family.h"

namespace barracuda::ptx {
namespace {

// Statements on a way that is not followed to its end.
constexpr int kMostStatements = 400;

class Way {
 public:
  Way(const Program& program, const ControlFlow& flow, const Constants& constants,
      std::span<const PlannedSite> sites, const PlannedSite& swap)
      : program_(program),
        flow_(flow),
        constants_(constants),
        sites_(sites),
        at_(swap.statement),
        block_(flow.block_of(swap.statement)),
        swap_(program.module.statements[swap.statement].instruction) {}

  [[nodiscard]] bool leads_back() {
    const std::size_t begin = at_;
    for (int i = 0; i < kMostStatements; ++i) {
      if (!go_on()) {
        return false;
      }
      if (at_ == begin) {
        return true;
      }
    }
    return false;
  }

 private:
  struct Known {
    std::string_view predicate;
    bool value = false;
  };

  // To the next statement; false if it is not known which, or does what others can see.
  bool go_on() {
    const Statement& statement = program_.module.statements[at_];
    std::optional<bool> jumps = false;
    if (statement.kind == StatementKind::kInstruction) {
      const bool is_branch = statement.instruction.opcode == Opcode::kBra;
      jumps = is_branch ? is_taken(statement.instruction) : false;
      if (!jumps || (!is_branch && !follow(statement.instruction))) {
        return false;
      }
    }
    const BasicBlock& block = flow_.blocks[block_];
    if (at_ + 1 != block.end) {
      ++at_;
      return true;
    }
    const std::uint32_t next = block_ + 1;
    const auto target = std::ranges::find_if(
        block.successors, [&](std::uint32_t successor) { return (successor != next) == *jumps; });
    if (target == block.successors.end() || block.successors.size() > 2) {
      return false;
    }
    block_ = *target;
    at_ = flow_.blocks[block_].begin;
    return true;
  }

  [[nodiscard]] std::optional<bool> is_taken(const Instruction& branch) const {
    if (branch.predicate.empty()) {
      return true;
    }
    const std::optional<bool> value = known_value(branch.predicate);
    return value ? std::optional(*value != branch.predicate_negated) : std::nullopt;
  }

  [[nodiscard]] std::optional<bool> known_value(std::string_view predicate) const {
    const auto known = std::ranges::find(known_, predicate, &Known::predicate);
    return known == known_.end() ? std::nullopt : std::optional(known->value);
  }

  // Of what computes only; and of the swap itself, with which the way begins.
  bool follow(const Instruction& instruction) {
    if (&instruction == &swap_) {
      return true;
    }
    if (!touches_no_memory(program_.effects[at_]) ||
        std::ranges::binary_search(sites_, at_, {}, &PlannedSite::statement)) {
      return false;
    }
    const std::optional<bool> value = value_of(instruction);
    visit_registers(instruction.operands.empty() ? Operand{} : instruction.operands[0],
                    [&](const Operand& written) { forget(written.text); });
    if (value && instruction.operands[0].kind == Operand::Kind::kRegister) {
      known_.push_back({.predicate = instruction.operands[0].text, .value = *value});
    }
    return true;
  }

  // Of a comparison of what was found with what was expected, which differ; or of what is known.
  [[nodiscard]] std::optional<bool> value_of(const Instruction& instruction) const {
    const auto& operands = instruction.operands;
    if (!instruction.predicate.empty()) {
      return std::nullopt;
    }
    if (instruction.opcode == Opcode::kNot && operands.size() == 2) {
      const std::optional<bool> operand = known_value(operands[1].text);
      return operand ? std::optional(!*operand) : std::nullopt;
    }
    const bool is_equal = instruction.has(Modifier::kEq);
    if (instruction.opcode != Opcode::kSetp || operands.size() != 3 || !has_result_ ||
        !compares_bits(instruction.last_type()) || !(is_equal || instruction.has(Modifier::kNe))) {
      return std::nullopt;
    }
    const std::string_view result = swap_.operands[0].text;
    const bool is_meant = (operands[1].text == result && is_expected(operands[2])) ||
                          (operands[2].text == result && is_expected(operands[1]));
    return is_meant ? std::optional(!is_equal) : std::nullopt;
  }

  // Floating-point numbers are equal of which the bits differ.
  [[nodiscard]] bool compares_bits(ScalarType type) const {
    return (is_signed(type) || is_unsigned(type) || is_untyped(type)) &&
           size_of(type) == size_of(swap_.last_type());
  }

  [[nodiscard]] bool is_expected(const Operand& operand) const {
    const Operand& expected = swap_.operands[2];
    const auto value = constants_.value_of(operand, 8);
    return value ? value == constants_.value_of(expected, 8)
                 : has_expected_ && operand.text == expected.text;
  }

  void forget(std::string_view written) {
    has_result_ = has_result_ && written != swap_.operands[0].text;
    has_expected_ = has_expected_ && written != swap_.operands[2].text;
    std::erase_if(known_, [&](const Known& known) { return known.predicate == written; });
  }

  const Program& program_;
  const ControlFlow& flow_;
  const Constants& constants_;
  std::span<const PlannedSite> sites_;
  std::size_t at_;       // a statement, of
  std::uint32_t block_;  // this block
  const Instruction& swap_;
  bool has_result_ = true, has_expected_ = true;  // their registers are what they were
  std::vector<Known> known_;
};

}  // namespace

bool is_only_made_again(const Program& program, const ControlFlow& flow, const Constants& constants,
                        std::span<const PlannedSite> sites, const PlannedSite& swap) {
  const Instruction& instruction = program.module.statements[swap.statement].instruction;
  return instruction.operands.size() > 3 &&
         instruction.operands[0].text != instruction.operands[2].text &&
         Way(program, flow, constants, sites, swap).leads_back();
}

}  // namespace barracuda::ptx

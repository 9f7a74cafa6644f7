#include "ptx/analysis/implied_literals.h"

#include <algorithm>

#include <boost/container/small_vector.hpp>

#include "ptx/analysis/flow_order.h"

namespace barracuda::ptx {
namespace {

// What bounds the cost of a question.
constexpr std::uint32_t kDeepest = 8;
constexpr std::size_t kMostAdded = 256, kMostDefinitions = 16, kMostGuards = 8;

// What a literal is made of.
struct Combined {
  boost::container::small_vector<Literal, 2> parts;
  bool all_hold = false;  // where it is what is asked for; else one of them does
};

// Of a predicate: where it holds, or, negated, where it does not; no parts where it says nothing.
Combined combined_by(const Instruction& writer, bool is_negated) {
  const auto& operands = writer.operands;
  Combined combined;
  if (operands.empty() || operands[0].kind != Operand::Kind::kRegister) {
    return combined;
  }
  const bool is_and = writer.has(Modifier::kAnd), is_or = writer.has(Modifier::kOr);
  if (writer.opcode == Opcode::kSetp && operands.size() == 4 && (is_negated ? is_or : is_and)) {
    combined.all_hold = true;  // of the comparison nothing is asked
    if (const auto part = predicate_of(operands[3], is_negated)) {
      combined.parts.push_back(*part);
    }
    return combined;
  }
  const bool is_of_predicates = writer.last_type() == ScalarType::kPred;
  const bool combines = is_of_predicates && operands.size() == 3 &&
                        (writer.opcode == Opcode::kAnd || writer.opcode == Opcode::kOr);
  const bool is_copy = is_of_predicates && operands.size() == 2 &&
                       (writer.opcode == Opcode::kNot || writer.opcode == Opcode::kMov);
  if (!combines && !is_copy) {
    return combined;
  }
  const bool flips = writer.opcode == Opcode::kNot;
  combined.all_hold = is_copy || (writer.opcode == Opcode::kAnd) != is_negated;
  for (std::size_t n = 1; n < operands.size(); ++n) {
    const auto part = predicate_of(operands[n], is_negated != flips);
    if (part) {
      combined.parts.push_back(*part);
    } else if (!combined.all_hold) {
      return {};
    }
  }
  return combined;
}

}  // namespace

std::optional<Literal> predicate_of(const Operand& operand, bool is_negated) {
  if (operand.kind != Operand::Kind::kRegister || !operand.component.empty()) {
    return std::nullopt;
  }
  return Literal{.name = operand.name, .is_negated = is_negated != operand.negated};
}

std::vector<ImpliedLiteral> ImpliedLiterals::of(const Literal& literal, std::size_t user) {
  added_ = 0;
  Implied implied;
  add({.literal = literal, .reader = user}, implied);
  return implied;
}

void ImpliedLiterals::add(const ImpliedLiteral& one, Implied& implied) {
  if (++added_ > kMostAdded) {
    return;
  }
  implied.push_back(one);
  const RegisterUses::Register* const found = uses_.find(one.literal.name);
  if (one.depth == kDeepest || found == nullptr) {
    return;
  }
  if (!found->is_written_once()) {
    add_of_several(*found, one, implied);
    return;
  }
  const std::size_t definition = found->definitions[0];
  const Instruction& writer = program_.module.statements[definition].instruction;
  if (writer.predicate.empty() && comes_before(flow_, definition, one.reader)) {
    add_parts(writer, definition, one, implied);
  }
}

void ImpliedLiterals::add_parts(const Instruction& writer, std::size_t definition,
                                const ImpliedLiteral& whole, Implied& implied) {
  const auto implied_by = [&](const Literal& part) {
    return ImpliedLiteral{.literal = part,
                          .reader = definition,
                          .depth = whole.depth + 1,
                          .is_of_past = whole.is_of_past};
  };
  if (const auto part = part_of_number(writer, definition, whole.literal)) {
    add(implied_by(*part), implied);
    return;
  }
  if (whole.literal.number_bits != 0) {
    return;
  }
  const Combined combined = combined_by(writer, whole.literal.is_negated);
  Implied of_parts;
  for (std::size_t n = 0; n < combined.parts.size(); ++n) {
    Implied of_part;
    add(implied_by(combined.parts[n]), of_part);
    if (n != 0 && !combined.all_hold) {
      keep_common(of_parts, of_part);
    } else {
      of_parts.insert(of_parts.end(), of_part.begin(), of_part.end());
    }
  }
  implied.insert(implied.end(), of_parts.begin(), of_parts.end());
}

// Compilers keep what is true or false as a number: where it is not zero, or where the predicate
// is that says so.
std::optional<Literal> ImpliedLiterals::part_of_number(const Instruction& writer,
                                                       std::size_t definition,
                                                       const Literal& whole) const {
  using enum Opcode;
  const auto& operands = writer.operands;
  const std::uint32_t bytes = size_of(writer.last_type());
  if (operands.size() < 2 || operands[0].kind != Operand::Kind::kRegister) {
    return std::nullopt;
  }
  const auto number = [&](const Operand& operand) -> std::optional<Literal> {
    const bool is_register = operand.kind == Operand::Kind::kRegister && operand.component.empty();
    return is_register && bytes >= 2
               ? std::optional(Literal{.name = operand.name, .number_bits = 8 * bytes})
               : std::nullopt;
  };
  if (whole.number_bits == 0) {
    const bool compares = writer.opcode == kSetp && operands.size() == 3 &&
                          writer.has(whole.is_negated ? Modifier::kEq : Modifier::kNe) &&
                          is_zero(operands[2], bytes, definition) == true;
    return compares ? number(operands[1]) : std::nullopt;
  }
  if (writer.opcode == kSelp && operands.size() == 4) {
    const auto taken = is_zero(operands[1], bytes, definition);
    const auto left = is_zero(operands[2], bytes, definition);
    return taken == true  ? predicate_of(operands[3], true)
           : left == true ? predicate_of(operands[3], false)
                          : std::nullopt;
  }
  const bool keeps_zero = (writer.opcode == kMov && operands.size() == 2) ||
                          (writer.opcode == kAnd && operands.size() == 3 &&
                           operands[2].kind == Operand::Kind::kInteger);
  return keeps_zero ? number(operands[1]) : std::nullopt;
}

// One of those that may have written it last has, and what decided about that one did so then.
void ImpliedLiterals::add_of_several(const RegisterUses::Register& written,
                                     const ImpliedLiteral& whole, Implied& implied) {
  if (written.definitions.size() > kMostDefinitions) {
    return;
  }
  std::optional<Implied> of_all;
  for (const std::size_t definition : written.definitions) {
    if (never_writes(definition, whole.literal)) {
      continue;
    }
    const Instruction& writer = program_.module.statements[definition].instruction;
    Implied of_one;
    if (!writer.predicate.empty()) {
      add({.literal = {.name = writer.predicate, .is_negated = writer.predicate_negated},
           .reader = definition,
           .depth = whole.depth + 1,
           .is_of_past = true},
          of_one);
    }
    add_guards(definition, whole.depth + 1, of_one);
    ImpliedLiteral then = whole;
    then.is_of_past = true;
    add_parts(writer, definition, then, of_one);
    if (of_all) {
      keep_common(*of_all, of_one);
    } else {
      of_all = std::move(of_one);
    }
  }
  if (of_all) {
    implied.insert(implied.end(), of_all->begin(), of_all->end());
  }
}

void ImpliedLiterals::add_guards(std::size_t statement, std::uint32_t depth, Implied& implied) {
  std::uint32_t block = flow_.block_of(statement);
  for (std::size_t i = 0; i < kMostGuards && block != kNoBlock; ++i) {
    const std::uint32_t above = flow_.blocks[block].immediate_dominator;
    if (const auto literal = edge_into(block)) {
      add({.literal = *literal,
           .reader = flow_.blocks[above].end - 1,
           .depth = depth,
           .is_of_past = true},
          implied);
    }
    block = above;
  }
}

// One of the two holds, whichever: what both imply does. What reads it differs.
void ImpliedLiterals::keep_common(Implied& some, const Implied& others) {
  std::erase_if(some, [&](ImpliedLiteral& one) {
    const auto other = std::ranges::find_if(others, [&](const ImpliedLiteral& candidate) {
      return says_the_same(one.literal, candidate.literal);
    });
    if (other == others.end()) {
      return true;
    }
    one.is_of_past = one.is_of_past || other->is_of_past || other->literal.name != one.literal.name;
    const RegisterUses::Register* const found = uses_.find(other->literal.name);
    return found != nullptr && found->is_written_once() &&
           !comes_before(flow_, found->definitions[0], other->reader);
  });
}

// Compilers compute one condition several times, where it is used.
bool ImpliedLiterals::says_the_same(const Literal& one, const Literal& other) {
  if (one == other) {
    return true;
  }
  const RegisterUses::Register* const written[] = {uses_.find(one.name), uses_.find(other.name)};
  if (one.is_negated != other.is_negated || one.number_bits != other.number_bits ||
      std::ranges::any_of(written, [](const RegisterUses::Register* each) {
        return each == nullptr || !each->is_written_once();
      })) {
    return false;
  }
  const Instruction& first = program_.module.statements[written[0]->definitions[0]].instruction;
  const Instruction& second = program_.module.statements[written[1]->definitions[0]].instruction;
  return first.opcode == Opcode::kSetp && first.predicate.empty() && second.predicate.empty() &&
         first.mnemonic == second.mnemonic && first.operands.size() == second.operands.size() &&
         std::equal(first.operands.begin() + 1, first.operands.end(), second.operands.begin() + 1,
                    [&](const Operand& a, const Operand& b) {
                      return a.text == b.text && never_changes(a) && never_changes(b);
                    });
}

// The same is compared only if it is the same each time.
bool ImpliedLiterals::never_changes(const Operand& operand) {
  if (operand.kind == Operand::Kind::kInteger) {
    return true;
  }
  const RegisterUses::Register* const found =
      operand.kind == Operand::Kind::kRegister ? uses_.find(operand.name) : nullptr;
  return found != nullptr && found->is_written_once() &&
         executed_once_.contains(found->definitions[0]);
}

// It moves a constant there, of which the literal does not hold.
bool ImpliedLiterals::never_writes(std::size_t definition, const Literal& literal) const {
  const Instruction& writer = program_.module.statements[definition].instruction;
  if (writer.opcode != Opcode::kMov || writer.operands.size() != 2 ||
      writer.operands[0].kind != Operand::Kind::kRegister ||
      !writer.operands[0].component.empty()) {
    return false;
  }
  const auto zero = is_zero(writer.operands[1], literal.number_bits / 8, definition);
  return zero && *zero != literal.is_negated;
}

// Whether an operand of a statement is; `bytes` of it, or a predicate. Empty if it is no constant.
std::optional<bool> ImpliedLiterals::is_zero(const Operand& operand, std::uint32_t bytes,
                                             std::size_t statement) const {
  if (operand.kind == Operand::Kind::kInteger) {
    return operand.bits == 0;
  }
  if (operand.kind != Operand::Kind::kRegister || !operand.component.empty()) {
    return std::nullopt;
  }
  if (const auto value = constants_.value_of(operand, std::max(bytes, 1U))) {
    return *value == 0;
  }
  // As the last instruction before it in its block has written it.
  const std::size_t begin = flow_.blocks[flow_.block_of(statement)].begin;
  for (std::size_t i = statement; i > begin; --i) {
    const Statement& before = program_.module.statements[i - 1];
    if (before.kind != StatementKind::kInstruction) {
      continue;
    }
    const Instruction& writer = before.instruction;
    bool writes = false;
    if (!writer.operands.empty()) {
      visit_registers(writer.operands[0],
                      [&](const Operand& named) { writes = writes || named.name == operand.name; });
    }
    if (writes) {
      const bool is_constant = writer.opcode == Opcode::kMov && writer.predicate.empty() &&
                               writer.operands.size() == 2 &&
                               writer.operands[0].name == operand.name &&
                               writer.operands[1].kind == Operand::Kind::kInteger;
      return is_constant ? std::optional(writer.operands[1].bits == 0) : std::nullopt;
    }
  }
  return std::nullopt;
}

std::optional<Literal> ImpliedLiterals::edge_into(std::uint32_t block) const {
  const BasicBlock& target = flow_.blocks[block];
  if (target.predecessors.size() != 1) {
    return std::nullopt;
  }
  const std::uint32_t from = target.predecessors[0];
  const BasicBlock& source = flow_.blocks[from];
  for (std::size_t i = source.end; i > source.begin; --i) {
    const Statement& last = program_.module.statements[i - 1];
    if (last.kind != StatementKind::kInstruction) {
      continue;
    }
    const Instruction& branch = last.instruction;
    if (branch.opcode != Opcode::kBra || branch.predicate.empty() ||
        source.successors.size() != 2) {
      return std::nullopt;
    }
    const bool is_fall_through = block == from + 1;
    return Literal{.name = branch.predicate,
                   .is_negated = branch.predicate_negated != is_fall_through};
  }
  return std::nullopt;
}

}  // namespace barracuda::ptx

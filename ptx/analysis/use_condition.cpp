#include "ptx/analysis/use_condition.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "ptx/analysis/reached_uses.h"

namespace barracuda::ptx {
namespace {

std::optional<Literal> predicate(const Operand& operand, bool is_negated) {
  if (operand.kind != Operand::Kind::kRegister || !operand.component.empty()) {
    return std::nullopt;
  }
  return Literal{.name = operand.name, .is_negated = is_negated != operand.negated};
}

// What a value does not change while it is computed again elsewhere.
bool may_be_cloned(const Instruction& instruction) {
  using enum Opcode;
  constexpr Opcode kOpcodes[] = {kSetp, kMov, kAnd, kOr,  kXor, kNot, kShl, kShr,
                                 kAdd,  kSub, kNeg, kCvt, kRem, kMin, kMax, kSelp};
  return std::ranges::find(kOpcodes, instruction.opcode) != std::end(kOpcodes) &&
         instruction.predicate.empty() && !instruction.has(Modifier::kCc) &&
         instruction.operands[0].kind == Operand::Kind::kRegister &&
         instruction.operands[0].component.empty();
}

// What the predicate that an instruction writes is made of.
struct Combined {
  boost::container::small_vector<Literal, 2> parts;
  bool all_hold = false;  // where it is what is asked for; else one of them does
};

// Where the predicate holds, or, negated, where it does not; no parts where it says nothing.
Combined combined_by(const Instruction& writer, bool is_negated) {
  const auto& operands = writer.operands;
  Combined combined;
  if (!writer.predicate.empty() || operands.empty() ||
      operands[0].kind != Operand::Kind::kRegister) {
    return combined;
  }
  const bool is_and = writer.has(Modifier::kAnd), is_or = writer.has(Modifier::kOr);
  if (writer.opcode == Opcode::kSetp && operands.size() == 4 && (is_negated ? is_or : is_and)) {
    combined.all_hold = true;  // of the comparison nothing is asked
    if (const auto part = predicate(operands[3], is_negated)) {
      combined.parts.push_back(*part);
    }
    return combined;
  }
  const bool is_of_predicates = writer.last_type() == ScalarType::kPred;
  const bool combines = is_of_predicates && operands.size() == 3 &&
                        (writer.opcode == Opcode::kAnd || writer.opcode == Opcode::kOr);
  const bool is_not = is_of_predicates && operands.size() == 2 && writer.opcode == Opcode::kNot;
  if (!combines && !is_not) {
    return combined;
  }
  combined.all_hold = is_not || (writer.opcode == Opcode::kAnd) != is_negated;
  for (std::size_t n = 1; n < operands.size(); ++n) {
    const auto part = predicate(operands[n], is_negated != is_not);
    if (part) {
      combined.parts.push_back(*part);
    } else if (!combined.all_hold) {
      return {};
    }
  }
  return combined;
}

// The type of the register that it writes; empty if it is none of ours.
std::string_view result_type(const Instruction& instruction) {
  if (instruction.opcode == Opcode::kSetp) {
    return "pred";
  }
  const ScalarType type = instruction.last_type(instruction.opcode == Opcode::kCvt ? 1 : 0);
  return type == ScalarType::kPred ? "pred"
         : size_of(type) == 2      ? "b16"
         : size_of(type) == 4      ? "b32"
         : size_of(type) == 8      ? "b64"
                                   : "";
}

// Not the block's number, in whose place the program may read another one (block_numbers.cpp).
bool is_fixed(const Operand& special) {
  constexpr std::string_view kNames[] = {"%tid", "%ntid", "%nctaid", "%laneid"};
  return std::ranges::find(kNames, special.name) != std::end(kNames);
}

}  // namespace

bool may_be_passed(const Statement& statement, const Effect& effect) {
  using enum OpcodeClass;
  if (statement.kind != StatementKind::kInstruction) {
    return statement.kind == StatementKind::kLocation || statement.kind == StatementKind::kPragma;
  }
  const OpcodeClass c = effect.opcode_class;
  const bool is_access = c == kLoad || c == kStore;
  return !effect.not_covered && (c == kArithmetic || c == kNoEffect ||
                                 (is_access && effect.order == wire::MemoryOrder::kWeak));
}

UseCondition UseConditions::of(std::size_t load) {
  load_ = load;
  block_ = flow_.block_of(load);
  is_always_ = needs_static_ = false;
  is_static_ = true;
  looked_at_ = 0;
  followed_.clear();
  from_load_.reset();
  masked_.clear();
  clones_.clear();
  clone_order_.clear();
  cloned_.clear();
  visit_registers(program_.module.statements[load].instruction.operands[0],
                  [&](const Operand& written) { follow(written.name, load); });
  return result();
}

// `name` has at `definition` what was loaded, or what is made of it.
void UseConditions::follow(std::string_view name, std::size_t definition) {
  const RegisterUses::Register* const found = uses_.find(name);
  if (is_always_ || found == nullptr || !followed_.insert({name, definition}).second) {
    return;
  }
  is_static_ = is_static_ && found->definitions == 1;
  const bool is_one_of_several = found->definitions > 1;
  const ReachedUses reached =
      is_one_of_several ? reached_uses(program_, flow_, name, definition) : ReachedUses();
  for (const RegisterUses::Use& each : found->uses) {
    if (is_one_of_several && !reached.contains(each.statement)) {
      continue;
    }
    is_static_ = is_static_ && comes_before(found->definition, each.statement);
    if (++looked_at_ > kMostUses) {
      is_always_ = true;
    }
    if (is_always_) {
      return;
    }
    use(each, name);
  }
}

void UseConditions::use(const RegisterUses::Use& use, std::string_view name) {
  const Instruction& instruction = program_.module.statements[use.statement].instruction;
  auto mask = mask_of(use);
  if (mask && mask->name == name) {
    mask.reset();
  }
  const auto known = mask ? make_one(*mask, use.statement, true) : std::nullopt;
  if (mask && is_from_load(mask->name)) {
    mask.reset();
  }
  if (known || (mask && mask->number_bits == 0)) {
    if (!known) {
      if (const auto guard = guard_of(use.statement)) {
        add({.literal = *guard, .statement = use.statement, .is_known = true});
        return;
      }
    }
    add({.literal = known ? *known : *mask,
         .statement = use.statement,
         .is_known = known.has_value()});
    return;
  }
  if (const auto guard = guard_of(use.statement)) {
    add({.literal = *guard, .statement = use.statement, .is_known = true});
    return;
  }
  const bool goes_on =
      use.operand > 0 && is_computation(instruction, program_.effects[use.statement]);
  is_always_ = !goes_on;
  if (goes_on) {
    visit_registers(instruction.operands[0],
                    [&](const Operand& written) { follow(written.name, use.statement); });
  }
}

// A use that matters only where another operand says so.
std::optional<Literal> UseConditions::mask_of(const RegisterUses::Use& use) const {
  const Instruction& instruction = program_.module.statements[use.statement].instruction;
  const auto& operands = instruction.operands;
  const int n = use.operand;
  if (n >= 0 && !instruction.predicate.empty()) {
    return Literal{.name = instruction.predicate, .is_negated = instruction.predicate_negated};
  }
  if (n <= 0 || !is_computation(instruction, program_.effects[use.statement])) {
    return std::nullopt;
  }
  using enum Opcode;
  const Opcode opcode = instruction.opcode;
  if (opcode == kSelp && n < 3 && operands.size() == 4) {
    return predicate(operands[3], n == 2);
  }
  if (opcode == kSetp && n < 3 && operands.size() == 4 &&
      (instruction.has(Modifier::kAnd) || instruction.has(Modifier::kOr))) {
    return predicate(operands[3], instruction.has(Modifier::kOr));
  }
  if ((opcode != kAnd && opcode != kOr) || operands.size() != 3) {
    return std::nullopt;
  }
  const Operand& other = operands[static_cast<std::size_t>(3 - n)];
  const ScalarType type = instruction.last_type();
  if (type == ScalarType::kPred) {
    return predicate(other, opcode == kOr);
  }
  const bool is_number = opcode == kAnd && other.kind == Operand::Kind::kRegister &&
                         other.component.empty() && size_of(type) >= 2 &&
                         !constants_.value_of(other, size_of(type));
  return is_number ? std::optional(Literal{.name = other.name, .number_bits = 8 * size_of(type)})
                   : std::nullopt;
}

// What holds wherever the literal does that `user` reads: itself, and what it is combined of. Each
// with the instruction that reads it.
UseConditions::Implied UseConditions::implied_by(const Literal& literal, std::size_t user,
                                                 int depth) const {
  Implied implied{{literal, user}};
  const RegisterUses::Register* const found = uses_.find(literal.name);
  if (depth == kMostImplied || literal.number_bits != 0 || found == nullptr ||
      found->definitions != 1 || !comes_before(found->definition, user)) {
    return implied;
  }
  const Instruction& writer = program_.module.statements[found->definition].instruction;
  const Combined combined = combined_by(writer, literal.is_negated);
  Implied of_parts;
  for (std::size_t n = 0; n < combined.parts.size(); ++n) {
    Implied of_part = implied_by(combined.parts[n], found->definition, depth + 1);
    if (n != 0 && !combined.all_hold) {  // what both imply
      std::erase_if(of_parts, [&](const auto& one) {
        return std::ranges::find(of_part, one.first,
                                 [](const auto& other) { return other.first; }) == of_part.end();
      });
    } else {
      of_parts.insert(of_parts.end(), of_part.begin(), of_part.end());
    }
  }
  implied.insert(implied.end(), of_parts.begin(), of_parts.end());
  return implied;
}

// The first of what the literal implies that is none of the load's and can be had there.
std::optional<Literal> UseConditions::make_one(const Literal& literal, std::size_t user,
                                               bool is_behind_load) {
  for (const auto& [implied, reader] : implied_by(literal, user, 0)) {
    if (!is_from_load(implied.name) && make(implied.name, reader, is_behind_load)) {
      return implied;
    }
  }
  return std::nullopt;
}

// Whether the register is computed from what was loaded: then it does not say who needs that.
bool UseConditions::is_from_load(std::string_view name) {
  if (!from_load_) {
    from_load_.emplace();
    boost::container::small_vector<std::string_view, 16> waiting;
    const auto reach = [&](const Operand& written) {
      if (from_load_->insert(written.name).second) {
        waiting.push_back(written.name);
      }
    };
    visit_registers(program_.module.statements[load_].instruction.operands[0], reach);
    while (!waiting.empty() && from_load_->size() <= kMostUses) {
      const RegisterUses::Register* const found = uses_.find(waiting.back());
      waiting.pop_back();
      if (found == nullptr) {
        continue;
      }
      for (const RegisterUses::Use& each : found->uses) {
        const Instruction& reader = program_.module.statements[each.statement].instruction;
        if (is_computation(reader, program_.effects[each.statement])) {
          visit_registers(reader.operands[0], reach);
        }
      }
    }
  }
  return from_load_->size() > kMostUses || from_load_->contains(name);
}

void UseConditions::add(const Masked& masked) {
  const auto is_opposite = [&](const Masked& other) {
    return other.literal.name == masked.literal.name &&
           other.literal.is_negated != masked.literal.is_negated &&
           other.literal.number_bits == masked.literal.number_bits;
  };
  masked_.push_back(masked);
  if (std::ranges::any_of(masked_, is_opposite) || masked_.size() > 4 * kMostLiterals) {
    is_always_ = true;
  }
}

// A branch between the load and the statement that decides whether the statement is reached.
std::optional<Literal> UseConditions::guard_of(std::size_t statement) {
  std::uint32_t block = flow_.block_of(statement);
  for (std::size_t i = 0; i < kMostGuards && block != block_ && block != kNoBlock; ++i) {
    const std::uint32_t above = flow_.blocks[block].immediate_dominator;
    if (above == kNoBlock || (above != block_ && flow_.dominates(above, block_))) {
      return std::nullopt;  // it decides about the load as well
    }
    const auto literal = edge_into(block);
    if (literal) {
      const auto known =
          make_one(*literal, flow_.blocks[above].end - 1, flow_.dominates(block_, above));
      if (known) {
        return known;
      }
    }
    block = above;
  }
  return std::nullopt;
}

// What holds in a block that only one way of a branch leads to.
std::optional<Literal> UseConditions::edge_into(std::uint32_t block) const {
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

// On every path to `other` from the function's start, `statement` was executed.
bool UseConditions::comes_before(std::size_t statement, std::size_t other) const {
  const std::uint32_t block = flow_.block_of(statement), of_other = flow_.block_of(other);
  if (block == kNoBlock || of_other == kNoBlock) {
    return false;
  }
  return block == of_other ? statement < other : flow_.dominates(block, of_other);
}

bool UseConditions::is_executed_once(std::size_t statement) {
  const std::uint32_t block = flow_.block_of(statement);
  const auto [known, is_new] = in_cycle_.try_emplace(block, false);
  if (!is_new) {
    return !known->second;
  }
  std::vector<bool> seen(flow_.blocks.size());
  std::vector<std::uint32_t> waiting = flow_.blocks[block].successors;
  while (!waiting.empty() && !seen[block]) {
    const std::uint32_t next = waiting.back();
    waiting.pop_back();
    if (!seen[next]) {
      seen[next] = true;
      const auto& successors = flow_.blocks[next].successors;
      waiting.insert(waiting.end(), successors.begin(), successors.end());
    }
  }
  in_cycle_[block] = seen[block];
  return !seen[block];
}

// Wherever it is computed, from what never changes, it has one value.
bool UseConditions::is_invariant(std::size_t definition, int depth) {
  if (is_executed_once(definition)) {
    return true;
  }
  const Instruction& writer = program_.module.statements[definition].instruction;
  if (depth == kMostImplied || !is_computation(writer, program_.effects[definition]) ||
      !may_be_cloned(writer)) {
    return false;
  }
  return std::all_of(writer.operands.begin() + 1, writer.operands.end(), [&](const Operand& read) {
    if (read.kind != Operand::Kind::kRegister) {
      return read.kind == Operand::Kind::kInteger || read.kind == Operand::Kind::kFloat ||
             (read.kind == Operand::Kind::kSpecial && is_fixed(read));
    }
    const RegisterUses::Register* const found = uses_.find(read.name);
    return found != nullptr && found->definitions == 1 && read.component.empty() &&
           comes_before(found->definition, definition) &&
           is_invariant(found->definition, depth + 1);
  });
}

// What never changes holds. What is written in one place of the code does not change between the
// load and the use either if the load, and all that its value goes through, lie between that place
// and the use on every path: written again, all of it is.
bool UseConditions::holds_from_load(std::size_t definition, bool is_behind_load) {
  if (is_invariant(definition)) {
    return true;
  }
  needs_static_ = true;
  return is_behind_load;
}

bool UseConditions::make(std::string_view name, std::size_t user, bool is_behind_load) {
  if (cloned_.contains(name)) {
    return true;
  }
  const RegisterUses::Register* const found = uses_.find(name);
  if (found == nullptr || found->definitions != 1) {
    return false;
  }
  const std::size_t definition = found->definition;
  const Instruction& writer = program_.module.statements[definition].instruction;
  if (definition != load_ && writer.predicate.empty() && !found->is_in_inner_block &&
      comes_before(definition, load_)) {
    return holds_from_load(definition, is_behind_load);
  }
  return comes_before(definition, user) && clone(definition, is_behind_load);
}

// Computes the value again, before the load, from what is there.
bool UseConditions::clone(std::size_t definition, bool is_behind_load) {
  const Instruction& writer = program_.module.statements[definition].instruction;
  const std::string_view type = result_type(writer);
  if (!is_computation(writer, program_.effects[definition]) || !may_be_cloned(writer) ||
      type.empty()) {
    return false;
  }
  const std::size_t count = clone_order_.size(), text_size = clones_.size();
  std::string operands;
  for (std::size_t n = 1; n < writer.operands.size(); ++n) {
    const Operand& operand = writer.operands[n];
    if (operand.kind == Operand::Kind::kRegister) {
      if (!operand.component.empty() || !make(operand.name, definition, is_behind_load)) {
        drop_clones(count, text_size);
        return false;
      }
      fmt::format_to(std::back_inserter(operands), ", {}{}", operand.negated ? "!" : "",
                     name_at_load(operand.name));
    } else if (operand.kind == Operand::Kind::kInteger || operand.kind == Operand::Kind::kFloat ||
               (operand.kind == Operand::Kind::kSpecial && is_fixed(operand))) {
      fmt::format_to(std::back_inserter(operands), ", {}", operand.text);
    } else {
      drop_clones(count, text_size);
      return false;
    }
  }
  if (clone_order_.size() >= kMostClones) {
    drop_clones(count, text_size);
    return false;
  }
  const std::string_view name = writer.operands[0].name;
  const std::string own = fmt::format("%__barracuda_k{}", clone_order_.size());
  fmt::format_to(std::back_inserter(clones_), ".reg .{} {};\n{} {}{};\n", type, own,
                 name_of(writer), own, operands);
  clone_order_.push_back(name);
  cloned_.emplace(name, own);
  return true;
}

void UseConditions::drop_clones(std::size_t count, std::size_t text_size) {
  while (clone_order_.size() > count) {
    cloned_.erase(clone_order_.back());
    clone_order_.pop_back();
  }
  clones_.resize(text_size);
}

std::string_view UseConditions::name_at_load(std::string_view name) const {
  const auto found = cloned_.find(name);
  return found == cloned_.end() ? name : std::string_view(found->second);
}

UseCondition UseConditions::result() {
  if (is_always_ || masked_.empty() || (needs_static_ && !is_static_)) {
    return {};
  }
  if (std::ranges::all_of(masked_, &Masked::is_known)) {
    return {.kind = UseCondition::Kind::kKnown, .at = load_, .text = write(true)};
  }
  const std::size_t last = std::ranges::max(masked_, {}, &Masked::statement).statement;
  if (may_be_logged_at(last)) {
    return {.kind = UseCondition::Kind::kKnown, .at = last, .text = write(false)};
  }
  return {.kind = UseCondition::Kind::kUnknown, .at = load_};
}

// In the load's block, with nothing between that orders the thread or changes the address, where
// all that decides has been computed.
bool UseConditions::may_be_logged_at(std::size_t statement) const {
  if (flow_.block_of(statement) != block_ || statement <= load_) {
    return false;
  }
  const auto is_there = [&](const Masked& masked) {
    const RegisterUses::Register* const found = uses_.find(masked.literal.name);
    return found != nullptr && found->definitions == 1 && !found->is_in_inner_block &&
           comes_before(found->definition, statement) &&
           program_.module.statements[found->definition].instruction.predicate.empty();
  };
  if (!std::ranges::all_of(masked_, is_there)) {
    return false;
  }
  const Operand* const address =
      address_of(program_.module.statements[load_], program_.effects[load_]);
  bool is_kept = address != nullptr;
  for (std::size_t i = load_; i < statement && is_kept; ++i) {
    const Statement& between = program_.module.statements[i];
    is_kept = may_be_passed(between, program_.effects[i]);
    if (!is_kept || between.instruction.operands.empty() ||
        program_.effects[i].opcode_class == OpcodeClass::kStore) {
      continue;
    }
    visit_registers(between.instruction.operands[0], [&](const Operand& written) {
      visit_registers(*address,
                      [&](const Operand& base) { is_kept = is_kept && base.name != written.name; });
    });
  }
  return is_kept;
}

// Puts into %__barracuda_u whether any of the literals holds.
std::string UseConditions::write(bool at_load) const {
  std::string text = ".reg .pred %__barracuda_u, %__barracuda_t;\n";
  if (at_load) {
    text += clones_;
  }
  boost::container::small_vector<Literal, kMostLiterals> written;
  for (const Masked& masked : masked_) {
    const Literal& literal = masked.literal;
    if (std::ranges::find(written, literal) != written.end()) {
      continue;
    }
    const std::string_view name = at_load ? name_at_load(literal.name) : literal.name;
    const bool is_first = written.empty();
    written.push_back(literal);
    const std::string_view into = is_first ? "%__barracuda_u" : "%__barracuda_t";
    text += literal.number_bits != 0
                ? fmt::format("setp.ne.b{} {}, {}, 0;\n", literal.number_bits, into, name)
                : fmt::format("{}.pred {}, {};\n", literal.is_negated ? "not" : "mov", into, name);
    if (!is_first) {
      text += "or.pred %__barracuda_u, %__barracuda_u, %__barracuda_t;\n";
    }
  }
  return text;
}

}  // namespace barracuda::ptx

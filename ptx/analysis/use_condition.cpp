#include "ptx/analysis/use_condition.h"

#include <algorithm>

#include "ptx/analysis/flow_order.h"

namespace barracuda::ptx {

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
  from_load_.reset();
  walk(kMostLiterals);
  if (is_cut_ || (is_always_ && values_.is_full())) {
    // There are too many ways: told apart by what comes first on each there are less.
    walk(1);
  }
  return is_cut_ ? UseCondition() : result();
}

void UseConditions::walk(std::size_t most_literals) {
  most_literals_ = most_literals;
  is_always_ = is_cut_ = false;
  may_wait_ = true;
  looked_at_ = 0;
  values_.start(load_);
  followed_.clear();
  terms_.clear();
  unknown_.clear();
  visit_registers(program_.module.statements[load_].instruction.operands[0],
                  [&](const Operand& written) { follow(written.name, load_, {}); });
}

// `name` has at `definition` what was loaded, or what is made of it.
void UseConditions::follow(std::string_view name, std::size_t definition, const Path& path) {
  const RegisterUses::Register* const found = uses_.find(name);
  const bool is_told = terms_.is_implied_by(path.known);
  if (is_always_ || is_cut_ || found == nullptr || is_told) {
    return;
  }
  Followed& followed = followed_[{name, definition}];
  const auto with_less = std::ranges::find_if(followed.paths, [&](const Path& other) {
    return has_all_of(path.known, other.known) && (path.is_in_turn || !other.is_in_turn) &&
           (!other.unknown || path.unknown);
  });
  if (with_less != followed.paths.end()) {  // and less is known of what follows
    const auto& own = path.unknown;
    const auto& others = with_less->unknown;
    const bool is_same = !others || (own && own->is_same(*others));
    may_wait_ = may_wait_ && is_same;
    return;
  }
  followed.paths.push_back(path);
  if (!found->is_written_once() && !followed.reached) {
    followed.reached = reached_uses(program_, flow_, name, definition);
  }
  for (const RegisterUses::Use& each : found->uses) {
    if (followed.reached && !followed.reached->contains(each.statement)) {
      continue;
    }
    is_cut_ = is_cut_ || ++looked_at_ > kMostUses;
    if (is_always_ || is_cut_) {
      return;
    }
    Path on = path;
    on.is_in_turn = path.is_in_turn && found->is_written_once() &&
                    comes_before(flow_, found->definitions[0], each.statement);
    use(each, name, std::move(on));
  }
}

// What lets the value through here and further on counts together: a select may drop what the next
// one would take.
void UseConditions::use(const RegisterUses::Use& use, std::string_view name, Path path) {
  const Instruction& instruction = program_.module.statements[use.statement].instruction;
  const auto mask = mask_of(use);
  const bool was_told = path.is_certain || path.unknown;
  if (mask && mask->name != name) {
    const bool is_known = add_known(*mask, use.statement, path.is_in_turn, path);
    if (!is_known && !was_told && mask->number_bits == 0 && !is_from_load(mask->name)) {
      path.unknown = {.literal = *mask,
                      .statement = use.statement,
                      .is_in_turn = path.is_in_turn,
                      .implied = {}};
    }
  }
  add_guards(use.statement, path);
  if (path.is_certain && !was_told) {
    path.unknown.reset();  // the branch to here says enough
  }
  const bool goes_on =
      use.operand > 0 && is_computation(instruction, program_.effects[use.statement]);
  if (!goes_on || is_full(path)) {
    end(path);
    return;
  }
  visit_registers(instruction.operands[0],
                  [&](const Operand& written) { follow(written.name, use.statement, path); });
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
    return predicate_of(operands[3], n == 2);
  }
  if (opcode == kSetp && n < 3 && operands.size() == 4 &&
      (instruction.has(Modifier::kAnd) || instruction.has(Modifier::kOr))) {
    return predicate_of(operands[3], instruction.has(Modifier::kOr));
  }
  if ((opcode != kAnd && opcode != kOr) || operands.size() != 3) {
    return std::nullopt;
  }
  const Operand& other = operands[static_cast<std::size_t>(3 - n)];
  const ScalarType type = instruction.last_type();
  if (type == ScalarType::kPred) {
    return predicate_of(other, opcode == kOr);
  }
  const bool is_number = opcode == kAnd && other.kind == Operand::Kind::kRegister &&
                         other.component.empty() && size_of(type) >= 2 &&
                         !constants_.value_of(other, size_of(type));
  return is_number ? std::optional(Literal{.name = other.name, .number_bits = 8 * size_of(type)})
                   : std::nullopt;
}

// Of what the literal implies, all that can be had at the load, which is nothing of what is
// computed from the value; whether some of it is more than what decided long ago.
bool UseConditions::add_known(const Literal& literal, std::size_t user, bool is_in_turn,
                              Path& path) {
  bool is_certain = false;
  std::uint32_t deepest = ~std::uint32_t{0};
  for (const ImpliedLiteral& implied : implied_.of(literal, user)) {
    if (path.known.size() >= most_literals_) {
      break;
    }
    if (implied.depth > deepest ||
        (implied.is_of_past && path.known.size() + 1 >= most_literals_)) {
      continue;  // the whole is known; the last place is for what says more
    }
    deepest = ~std::uint32_t{0};
    if (!values_.make(implied.literal.name, implied.reader, is_in_turn && !implied.is_of_past)) {
      continue;
    }
    deepest = implied.depth;
    const Literal at_load = values_.at_load(implied.literal);
    is_certain = is_certain || !implied.is_of_past;
    if (std::ranges::find(path.known, at_load) == path.known.end()) {
      path.known.push_back(at_load);
    }
  }
  path.is_certain = path.is_certain || is_certain;
  return is_certain;
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
    while (!waiting.empty() && from_load_->size() <= kMostFromLoad) {
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
  return from_load_->size() > kMostFromLoad || from_load_->contains(name);
}

// The branches between the load and the statement that decide whether the statement is reached.
void UseConditions::add_guards(std::size_t statement, Path& path) {
  std::uint32_t block = flow_.block_of(statement);
  for (std::size_t i = 0; i < kMostGuards && block != block_ && block != kNoBlock && !is_full(path);
       ++i) {
    const std::uint32_t above = flow_.blocks[block].immediate_dominator;
    if (above == kNoBlock || (above != block_ && flow_.dominates(above, block_))) {
      return;  // it decides about the load as well
    }
    if (const auto literal = implied_.edge_into(block)) {
      add_known(*literal, flow_.blocks[above].end - 1,
                path.is_in_turn && flow_.dominates(block_, above), path);
    }
    block = above;
  }
}

bool UseConditions::is_full(const Path& path) const {
  return path.known.size() >= most_literals_ || (most_literals_ == 1 && path.unknown);
}

// Somebody reads the value, or no more is asked.
void UseConditions::end(const Path& path) {
  if (path.unknown) {
    Masked masked = *path.unknown;
    masked.implied = path.known;
    const auto is_opposite = [&](const Masked& other) {
      return other.literal.name == masked.literal.name &&
             other.literal.is_negated != masked.literal.is_negated;
    };
    is_always_ = std::ranges::any_of(unknown_, is_opposite);
    unknown_.push_back(std::move(masked));
    is_cut_ = unknown_.size() > kMostUnknown;
    return;
  }
  terms_.add(path.known);
  is_always_ = terms_.always_hold();
  is_cut_ = terms_.size() > kMostTerms;
}

UseCondition UseConditions::result() {
  using enum UseCondition::Kind;
  if (is_always_ || (terms_.size() == 0 && unknown_.empty())) {
    return {};
  }
  std::size_t at = load_;
  bool is_guess = false;
  if (!unknown_.empty()) {
    const std::size_t last = std::ranges::max(unknown_, {}, &Masked::statement).statement;
    is_guess = !may_wait_ || !may_be_logged_at(last);
    at = is_guess ? load_ : last;  // what can be had at the load is the same there
    for (const Masked& masked : unknown_) {
      terms_.add(is_guess ? masked.implied : UseTerm{masked.literal});
    }
  }
  if (terms_.always_hold()) {
    return {.kind = is_guess ? kUnknown : kAlways, .at = load_, .text = {}};
  }
  return {.kind = kKnown,
          .at = at,
          .text = values_.text(terms_.names()) + terms_.text(),
          .is_guess = is_guess};
}

// In the load's block, with nothing between that orders the thread or changes the address, where
// all that decides has been computed.
bool UseConditions::may_be_logged_at(std::size_t statement) const {
  const auto is_there = [&](const Masked& masked) {
    const RegisterUses::Register* const found = uses_.find(masked.literal.name);
    return masked.is_in_turn && flow_.block_of(masked.statement) == block_ &&
           masked.statement > load_ && found != nullptr && found->is_written_once() &&
           !found->is_in_inner_block &&
           comes_before(flow_, found->definitions[0], masked.statement) &&
           program_.module.statements[found->definitions[0]].instruction.predicate.empty();
  };
  if (!std::ranges::all_of(unknown_, is_there)) {
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

}  // namespace barracuda::ptx

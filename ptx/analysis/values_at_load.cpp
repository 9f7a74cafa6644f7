#include "ptx/analysis/values_at_load.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "ptx/analysis/constants.h"

namespace barracuda::ptx {
namespace {

constexpr int kDeepest = 8;

constexpr std::string_view kNames[] = {"%__barracuda_k0", "%__barracuda_k1", "%__barracuda_k2",
                                       "%__barracuda_k3", "%__barracuda_k4", "%__barracuda_k5",
                                       "%__barracuda_k6", "%__barracuda_k7"};
static_assert(std::size(kNames) == ValuesAtLoad::kMostClones);

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

// Of a comparison of integers for being equal; of others empty: what is no number is neither.
std::string opposite_of(std::string_view computation) {
  constexpr std::string_view kEqual = "setp.eq.", kUnequal = "setp.ne.";
  const bool is_equal = computation.starts_with(kEqual);
  if (!is_equal && !computation.starts_with(kUnequal)) {
    return {};
  }
  const std::string_view type = computation.substr(kEqual.size());
  constexpr std::string_view kTypes[] = {"b16", "b32", "b64", "s16", "s32",
                                         "s64", "u16", "u32", "u64"};
  return std::ranges::find(kTypes, type) == std::end(kTypes)
             ? std::string()
             : std::string(is_equal ? kUnequal : kEqual) + std::string(type);
}

// Has one value in a thread wherever it is read. Not the block's number, in whose place the program
// may read another one (block_numbers.cpp).
bool is_fixed(const Operand& operand) {
  constexpr std::string_view kSpecials[] = {"%tid", "%ntid", "%nctaid", "%laneid"};
  return operand.kind == Operand::Kind::kInteger || operand.kind == Operand::Kind::kFloat ||
         (operand.kind == Operand::Kind::kSpecial &&
          std::ranges::find(kSpecials, operand.name) != std::end(kSpecials));
}

}  // namespace

void ValuesAtLoad::start(std::size_t load) {
  load_ = load;
  relies_ = false;
  clones_.clear();
  made_.clear();
  order_.clear();
}

bool ValuesAtLoad::make(std::string_view name, std::size_t user, bool is_in_turn) {
  const RegisterUses::Register* const found = uses_.find(name);
  if (found == nullptr || !found->is_written_once()) {
    return false;
  }
  const std::size_t definition = found->definitions[0];
  if (const auto made = made_.find(name); made != made_.end()) {
    relies_ = relies_ || made->second.relies;
    return (is_in_turn || !made->second.relies) && comes_before(flow_, definition, user);
  }
  const Instruction& writer = program_.module.statements[definition].instruction;
  if (definition != load_ && writer.predicate.empty() && !found->is_in_inner_block &&
      comes_before(flow_, definition, load_)) {
    return holds_from_load(definition, is_in_turn);
  }
  return comes_before(flow_, definition, user) && clone(definition, is_in_turn);
}

// Computes the value again, before the load, from what is there. Compilers compute one condition
// several times, where it is used: it is made once.
bool ValuesAtLoad::clone(std::size_t definition, bool is_in_turn) {
  const Instruction& writer = program_.module.statements[definition].instruction;
  Clone clone{.type = result_type(writer)};
  if (!is_computation(writer, program_.effects[definition]) || !may_be_cloned(writer) ||
      clone.type.empty()) {
    return false;
  }
  const std::size_t made = order_.size(), clones = clones_.size();
  const bool others_rely = std::exchange(relies_, false);
  clone.computation = name_of(writer);
  const bool is_made = std::all_of(
      writer.operands.begin() + 1, writer.operands.end(),
      [&](const Operand& operand) { return add_operand(operand, definition, is_in_turn, clone); });
  const bool relies = std::exchange(relies_, others_rely);
  const auto same = std::ranges::find_if(clones_, [&](const Clone& other) {
    return other.type == clone.type && other.computation == clone.computation &&
           other.operands == clone.operands;
  });
  if (!is_made || (same == clones_.end() && is_full())) {
    forget_from(made, clones);
    return false;
  }
  relies_ = relies_ || relies;
  const std::string_view name = writer.operands[0].name;
  order_.push_back(name);
  made_.emplace(name,
                Made{.clone = static_cast<std::size_t>(same - clones_.begin()), .relies = relies});
  if (same == clones_.end()) {
    clones_.push_back(std::move(clone));
  }
  return true;
}

bool ValuesAtLoad::add_operand(const Operand& operand, std::size_t definition, bool is_in_turn,
                               Clone& clone) {
  if (operand.kind != Operand::Kind::kRegister) {
    clone.operands += fmt::format(", {}", operand.text);
    return is_fixed(operand);
  }
  if (!operand.component.empty() || !make(operand.name, definition, is_in_turn)) {
    return false;
  }
  if (const auto made = made_.find(operand.name); made != made_.end()) {
    clone.reads |= std::uint32_t{1} << made->second.clone;
  }
  clone.operands += fmt::format(", {}{}", operand.negated ? "!" : "", name_at_load(operand.name));
  return true;
}

void ValuesAtLoad::forget_from(std::size_t made, std::size_t clones) {
  while (order_.size() > made) {
    made_.erase(order_.back());
    order_.pop_back();
  }
  clones_.erase(clones_.begin() + static_cast<std::ptrdiff_t>(clones), clones_.end());
}

// What never changes holds. What is written in one place of the code does not change between the
// load and the use either if the load, and all that its value goes through, lie between that place
// and the use on every path: written again, all of it is.
bool ValuesAtLoad::holds_from_load(std::size_t definition, bool is_in_turn) {
  if (is_invariant(definition)) {
    return true;
  }
  relies_ = true;
  return is_in_turn;
}

// Wherever it is computed, from what never changes, it has one value.
bool ValuesAtLoad::is_invariant(std::size_t definition, int depth) {
  if (executed_once_.contains(definition)) {
    return true;
  }
  const Instruction& writer = program_.module.statements[definition].instruction;
  if (depth == kDeepest || !is_computation(writer, program_.effects[definition]) ||
      !may_be_cloned(writer)) {
    return false;
  }
  return std::all_of(writer.operands.begin() + 1, writer.operands.end(), [&](const Operand& read) {
    if (read.kind != Operand::Kind::kRegister) {
      return is_fixed(read);
    }
    const RegisterUses::Register* const found = uses_.find(read.name);
    return found != nullptr && found->is_written_once() && read.component.empty() &&
           comes_before(flow_, found->definitions[0], definition) &&
           is_invariant(found->definitions[0], depth + 1);
  });
}

std::string_view ValuesAtLoad::name_at_load(std::string_view name) const {
  const auto made = made_.find(name);
  return made == made_.end() ? name : kNames[made->second.clone];
}

// One name for a condition and what negates it.
Literal ValuesAtLoad::at_load(const Literal& literal) const {
  Literal found = literal;
  found.name = name_at_load(literal.name);
  const auto made = made_.find(literal.name);
  if (made == made_.end() || literal.number_bits != 0) {
    return found;
  }
  const Clone& own = clones_[made->second.clone];
  const std::string opposite = opposite_of(own.computation);
  for (std::size_t n = 0; n < made->second.clone && !opposite.empty(); ++n) {
    if (clones_[n].computation == opposite && clones_[n].operands == own.operands) {
      return {.name = kNames[n], .is_negated = !literal.is_negated};
    }
  }
  return found;
}

std::string ValuesAtLoad::text(const std::vector<std::string_view>& names_at_load) const {
  std::uint32_t needed = 0;
  for (std::size_t n = clones_.size(); n > 0; --n) {
    const std::uint32_t bit = std::uint32_t{1} << (n - 1);
    const bool is_needed = (needed & bit) != 0 ||
                           std::ranges::find(names_at_load, kNames[n - 1]) != names_at_load.end();
    needed |= is_needed ? bit | clones_[n - 1].reads : 0;
  }
  std::string text;
  for (std::size_t n = 0; n < clones_.size(); ++n) {
    if ((needed >> n & 1) != 0) {
      fmt::format_to(std::back_inserter(text), ".reg .{} {};\n{} {}{};\n", clones_[n].type,
                     kNames[n], clones_[n].computation, kNames[n], clones_[n].operands);
    }
  }
  return text;
}

}  // namespace barracuda::ptx

#include "ptx/analysis/address_forms.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "ptx/analysis/constants.h"
#include "ptx/analysis/register_sizes.h"
#include "ptx/type_family.h"

namespace barracuda::ptx {
namespace {

using Node = std::optional<std::uint32_t>;

constexpr std::uint32_t kWord = 4, kDoubleWord = 8;
// Code whose definitions go deeper, or whose addresses need more, has none that are known.
constexpr int kDeepest = 200;
constexpr std::size_t kMostNodes = 2000;
constexpr int kMostWork = 20000;
// Of a counter: loops that nvcc has unrolled have three.
constexpr std::size_t kMostDefinitions = 4;
// Of definitions between a counter and what it is in the next round.
constexpr int kMostSteps = 32;

// Bytes of an integer type; 0 of any other, and of those that are smaller.
std::uint32_t integer_bytes(ScalarType type) {
  using enum ScalarType;
  constexpr ScalarType kIntegers[] = {kB32, kU32, kS32, kB64, kU64, kS64};
  return std::ranges::find(kIntegers, type) == std::end(kIntegers) ? 0 : size_of(type);
}

std::optional<std::uint64_t> coordinate_of(std::string_view component) {
  return component == "x"   ? std::optional<std::uint64_t>(0)
         : component == "y" ? std::optional<std::uint64_t>(1)
         : component == "z" ? std::optional<std::uint64_t>(2)
                            : std::nullopt;
}

bool is_plain_register(const Operand& operand) {
  return operand.kind == Operand::Kind::kRegister && operand.component.empty() && !operand.negated;
}

bool is_copy(const Instruction& instruction) {
  return instruction.opcode == Opcode::kMov && instruction.operands.size() == 2;
}

bool is_sum_of_two(const Instruction& instruction) {
  return (instruction.opcode == Opcode::kAdd || instruction.opcode == Opcode::kSub) &&
         instruction.operands.size() == 3;
}

// Always executed, and without a bound.
bool is_plain(const Instruction& instruction) {
  return instruction.predicate.empty() && !instruction.has(Modifier::kSat) &&
         instruction.operands[0].kind == Operand::Kind::kRegister;
}

}  // namespace

AddressForms::AddressForms(const Program& program, const Function& function)
    : program_(program), function_(function), parameters_(program.module, function) {
  read_definitions();
}

// Every first operand counts as a definition, as in Constants; what memory an instruction writes is
// none.
void AddressForms::read_definitions() {
  RegisterSizes sizes;
  sizes.enter(function_);
  for (std::size_t i = function_.body_begin; i < function_.body_end; ++i) {
    const Statement& statement = program_.module.statements[i];
    sizes.read(statement);
    const auto& operands = statement.instruction.operands;
    if (statement.kind != StatementKind::kInstruction || operands.empty()) {
      continue;
    }
    const Operand& written = operands[0];
    if (written.kind == Operand::Kind::kVector) {
      for (std::uint32_t element = 0; element < written.elements.size(); ++element) {
        const Operand& one = written.elements[element];
        define(one, {.statement = i,
                     .element = element,
                     .is_whole = is_plain_register(one),
                     .bytes = sizes.bytes_of(one)});
      }
    } else if (written.kind != Operand::Kind::kAddress) {
      define(written, {.statement = i,
                       .is_whole = is_plain_register(written),
                       .bytes = sizes.bytes_of(written)});
    }
  }
}

void AddressForms::define(const Operand& destination, Definition definition) {
  visit_registers(destination, [&](const Operand& name) {
    registers_[name.name].definitions.push_back(definition);
  });
}

std::uint32_t AddressForms::add(const AddressNode& node) {
  nodes_.push_back(node);
  return static_cast<std::uint32_t>(nodes_.size() - 1);
}

std::uint32_t AddressForms::constant(std::uint64_t value, std::uint32_t bytes) {
  return add({.op = AddressOp::kConstant,
              .bytes = static_cast<std::uint8_t>(bytes),
              .value = bytes == kWord ? static_cast<std::uint32_t>(value) : value});
}

Node AddressForms::combine(AddressOp op, std::uint32_t bytes, Node first, Node second,
                           bool is_signed) {
  if (!first || !second || nodes_.size() > kMostNodes) {
    return std::nullopt;
  }
  return add({.op = op,
              .bytes = static_cast<std::uint8_t>(bytes),
              .is_signed = is_signed,
              .first = *first,
              .second = *second});
}

Node AddressForms::base_of(const Operand& address) {
  if (address.kind != Operand::Kind::kAddress || address.elements.size() != 1 ||
      !is_plain_register(address.elements[0])) {
    return std::nullopt;
  }
  return value_of(address.elements[0], kDoubleWord);
}

std::optional<AddressGuard> AddressForms::guard_of(const Comparison& comparison) {
  const std::uint32_t bytes = integer_bytes(comparison.type);
  const bool has_sign = is_signed(comparison.type);
  const auto whole = [&](const Operand& operand) {
    const Node node = bytes == 0 ? std::nullopt : value_of(operand, bytes);
    return bytes == kWord ? combine(AddressOp::kWiden, kDoubleWord, node, node, has_sign) : node;
  };
  const Node less = whole(*comparison.less);
  const Node more = less ? whole(*comparison.more) : std::nullopt;
  return more ? std::optional(AddressGuard{.less = *less,
                                           .more = *more,
                                           .may_be_equal = comparison.may_be_equal,
                                           .is_signed = has_sign})
              : std::nullopt;
}

Node AddressForms::special(const Operand& operand) {
  const auto coordinate = coordinate_of(operand.component);
  constexpr std::pair<std::string_view, AddressOp> kKnown[] = {{"%tid", AddressOp::kThread},
                                                               {"%ctaid", AddressOp::kBlock},
                                                               {"%ntid", AddressOp::kBlockSize},
                                                               {"%nctaid", AddressOp::kGridSize}};
  const auto* const known =
      std::ranges::find(kKnown, operand.name, &std::pair<std::string_view, AddressOp>::first);
  if (!coordinate || known == std::end(kKnown)) {
    return std::nullopt;
  }
  return add({.op = known->second, .bytes = kWord, .value = *coordinate});
}

Node AddressForms::value_of(const Operand& operand, std::uint32_t bytes) {
  if (operand.kind == Operand::Kind::kInteger && !operand.negated) {
    return constant(operand.bits, bytes);
  }
  Node node;
  if (operand.kind == Operand::Kind::kSpecial) {
    node = special(operand);
  } else if (is_plain_register(operand)) {
    node = node_of(operand.name);
  }
  return node && nodes_[*node].bytes == bytes ? node : std::nullopt;
}

Node AddressForms::node_of(std::string_view name) {
  const auto place = registers_.find(name);
  if (place == registers_.end() || place->second.state == Register::State::kDone) {
    return place == registers_.end() ? std::nullopt : place->second.node;
  }
  Register& found = place->second;  // no register is added any more
  if (found.state == Register::State::kBegun || depth_ == kDeepest || work_ == kMostWork) {
    is_cut_ = true;
    return std::nullopt;
  }
  const bool was_cut = std::exchange(is_cut_, false);
  found.state = Register::State::kBegun;
  ++depth_;
  ++work_;
  found.node = are_alike(found)                               ? result_of(found.definitions[0])
               : found.definitions.size() <= kMostDefinitions ? counter(name, found)
                                                              : std::nullopt;
  --depth_;
  // What is not known because it needs what has begun may be known later.
  found.state = found.node || !is_cut_ ? Register::State::kDone : Register::State::kNew;
  is_cut_ = is_cut_ || was_cut;
  return found.node;
}

// Made by the same instruction in each place, of the same registers: before a loop and at its end,
// say, of its counter. Which round's value it is no form says.
bool AddressForms::are_alike(const Register& found) const {
  const auto instruction_of = [&](const Definition& definition) -> const Instruction& {
    return program_.module.statements[definition.statement].instruction;
  };
  const Definition& first = found.definitions[0];
  return std::ranges::all_of(found.definitions, [&](const Definition& each) {
    const Instruction& one = instruction_of(first);
    const Instruction& other = instruction_of(each);
    return &one == &other ||
           (each.is_whole && each.element == first.element && each.bytes == first.bytes &&
            other.predicate.empty() && one.opcode == other.opcode &&
            one.modifiers == other.modifiers &&
            std::ranges::equal(one.operands, other.operands, {}, &Operand::text, &Operand::text));
  });
}

Node AddressForms::result_of(const Definition& definition) {
  const Instruction& instruction = program_.module.statements[definition.statement].instruction;
  if (!definition.is_whole || !instruction.predicate.empty()) {
    return std::nullopt;
  }
  const OpcodeClass opcode_class = program_.effects[definition.statement].opcode_class;
  const Node node = opcode_class == OpcodeClass::kLoad ? argument(instruction, definition)
                    : opcode_class == OpcodeClass::kArithmetic &&
                            instruction.operands[0].kind != Operand::Kind::kVector
                        ? computed(instruction)
                        : std::nullopt;
  return node && nodes_[*node].bytes == definition.bytes ? node : std::nullopt;
}

Node AddressForms::argument(const Instruction& load, const Definition& definition) {
  const std::uint32_t bytes = integer_bytes(load.last_type());
  const auto word = parameters_.word_of(load, definition.element, bytes);
  if (bytes == 0 || !word) {
    return std::nullopt;
  }
  return add(
      {.op = AddressOp::kArgument, .bytes = static_cast<std::uint8_t>(bytes), .word = *word});
}

Node AddressForms::computed(const Instruction& instruction) {
  using enum Opcode;
  const auto& operands = instruction.operands;
  const std::uint32_t bytes = integer_bytes(instruction.last_type());
  if (bytes == 0 || instruction.has(Modifier::kSat) || operands.size() < 2) {
    return std::nullopt;
  }
  const auto value = [&](std::size_t i, std::uint32_t size) {
    return i < operands.size() ? value_of(operands[i], size) : std::nullopt;
  };
  const Opcode opcode = instruction.opcode;
  // Of global memory a generic address is the same.
  if (opcode == kMov || (opcode == kCvta && instruction.has(Modifier::kGlobal))) {
    return value(1, bytes);
  }
  if (opcode == kMul || opcode == kMad) {
    return multiplied(instruction);
  }
  if (opcode == kCvt) {
    return converted(instruction);
  }
  if (opcode == kNeg) {
    return combine(AddressOp::kSubtract, bytes, constant(0, bytes), value(1, bytes));
  }
  if (opcode == kNot) {  // -1 - x
    return combine(AddressOp::kSubtract, bytes, constant(~std::uint64_t{0}, bytes),
                   value(1, bytes));
  }
  if (opcode == kShl || opcode == kShr) {
    return combine(opcode == kShl ? AddressOp::kShiftLeft : AddressOp::kShiftRight, bytes,
                   value(1, bytes), value(2, kWord), is_signed(instruction.last_type()));
  }
  constexpr std::pair<Opcode, AddressOp> kOfTwo[] = {{kAdd, AddressOp::kAdd},
                                                     {kSub, AddressOp::kSubtract},
                                                     {kAnd, AddressOp::kAnd},
                                                     {kOr, AddressOp::kOr}};
  const auto* const found = std::ranges::find(kOfTwo, opcode, &std::pair<Opcode, AddressOp>::first);
  return found == std::end(kOfTwo)
             ? std::nullopt
             : combine(found->second, bytes, value(1, bytes), value(2, bytes));
}

// mul.lo, mul.wide, mad.lo, mad.wide
Node AddressForms::multiplied(const Instruction& instruction) {
  const bool is_wide = instruction.has(Modifier::kWide);
  const std::uint32_t bytes = integer_bytes(instruction.last_type());
  const bool has_sign = is_signed(instruction.last_type());
  if ((!is_wide && !instruction.has(Modifier::kLo)) || (is_wide && bytes != kWord) ||
      instruction.has(Modifier::kCc) || instruction.operands.size() < 3) {
    return std::nullopt;
  }
  const std::uint32_t result = is_wide ? kDoubleWord : bytes;
  const auto factor = [&](const Operand& operand) {
    const Node node = value_of(operand, bytes);
    return is_wide ? combine(AddressOp::kWiden, kDoubleWord, node, node, has_sign) : node;
  };
  const Node first = factor(instruction.operands[1]);
  const Node second = factor(instruction.operands[2]);
  const Node product = combine(AddressOp::kMultiply, result, first, second);
  if (instruction.opcode == Opcode::kMul) {
    return product;
  }
  return instruction.operands.size() == 4
             ? combine(AddressOp::kAdd, result, product, value_of(instruction.operands[3], result))
             : std::nullopt;
}

// cvt.TO.FROM. A register that is wider than .FROM gives its low bytes.
Node AddressForms::converted(const Instruction& instruction) {
  const std::uint32_t to = integer_bytes(instruction.last_type(1));
  const std::uint32_t from = integer_bytes(instruction.last_type());
  if (to == 0 || from == 0) {
    return std::nullopt;
  }
  const Operand& source = instruction.operands[1];
  Node value = value_of(source, from);
  if (!value && from == kWord) {
    const Node wide = value_of(source, kDoubleWord);
    value = combine(AddressOp::kNarrow, kWord, wide, wide);
  }
  if (to == from) {
    return value;
  }
  return to == kDoubleWord ? combine(AddressOp::kWiden, kDoubleWord, value, value,
                                     is_signed(instruction.last_type()))
                           : combine(AddressOp::kNarrow, kWord, value, value);
}

// All definitions but one add to what the register was: an unrolled loop has one for the rounds
// that are left over, and one for four rounds at once.
Node AddressForms::counter(std::string_view name, const Register& found) {
  const Definition* begin = nullptr;
  std::vector<std::uint32_t> steps;
  for (const Definition& definition : found.definitions) {
    const Node step = step_of(name, definition);
    if (step) {
      steps.push_back(*step);
    } else if (std::exchange(begin, &definition) != nullptr) {
      return std::nullopt;
    }
  }
  if (begin == nullptr) {  // LLVM leaves a first value out that does not matter
    return std::nullopt;
  }
  Node value = result_of(*begin);
  for (const std::uint32_t step : steps) {
    value = combine(AddressOp::kCount, begin->bytes, value, step);
  }
  return value;
}

// Back from what the register becomes, through registers with one definition, by copies and sums of
// which one operand leads on.
Node AddressForms::step_of(std::string_view name, const Definition& definition) {
  Definition at = definition;
  Node sum;
  for (int i = 0; i < kMostSteps; ++i) {
    const Instruction& instruction = program_.module.statements[at.statement].instruction;
    const auto& operands = instruction.operands;
    const std::uint32_t bytes = integer_bytes(instruction.last_type());
    const bool is_sum = is_sum_of_two(instruction);
    if (!at.is_whole || bytes == 0 || bytes != definition.bytes || bytes != at.bytes ||
        !(is_sum || is_copy(instruction)) || !is_plain(instruction)) {
      return std::nullopt;
    }
    // The operand that leads on: the register itself, or else one that has no value of its own,
    // for it needs the register's.
    std::size_t next = 1;
    const bool adds = instruction.opcode == Opcode::kAdd;
    if (adds && operands[1].name != name &&
        (operands[2].name == name || !value_of(operands[2], bytes))) {
      next = 2;
    }
    if (is_sum) {
      const Node addend = value_of(operands[3 - next], bytes);
      sum = combine(adds ? AddressOp::kAdd : AddressOp::kSubtract, bytes,
                    sum ? sum : Node(constant(0, bytes)), addend);
    }
    if ((is_sum && !sum) || !is_plain_register(operands[next])) {
      return std::nullopt;
    }
    if (operands[next].name == name) {
      return sum;
    }
    const auto before = registers_.find(operands[next].name);
    if (before == registers_.end() || before->second.definitions.size() != 1) {
      return std::nullopt;
    }
    at = before->second.definitions[0];
  }
  return std::nullopt;
}

}  // namespace barracuda::ptx

#include "ptx/analysis/demanded_bits.h"

#include <optional>

#include "ptx/type_family.h"

namespace barracuda::ptx {
namespace {

constexpr std::uint64_t kAll = ~std::uint64_t{0};

constexpr std::uint64_t low_bits(std::uint64_t count) {
  return count >= 64 ? kAll : (std::uint64_t{1} << count) - 1;
}

constexpr std::uint64_t shifted_up(std::uint64_t bits, std::uint64_t by) {
  return by >= 64 ? 0 : bits << by;
}

constexpr std::uint64_t shifted_down(std::uint64_t bits, std::uint64_t by) {
  return by >= 64 ? 0 : bits >> by;
}

bool is_integer(ScalarType type) {
  return is_signed(type) || is_unsigned(type);
}

// Of a value of `type` that is extended, where `wanted` bits of the extended one are.
std::uint64_t before_extension(std::uint64_t wanted, ScalarType type) {
  const std::uint64_t width = std::uint64_t{8} * size_of(type);
  const bool wants_sign = is_signed(type) && shifted_down(wanted, width) != 0;
  return (wanted & low_bits(width)) | (wants_sign ? shifted_up(1, width - 1) : 0);
}

std::uint64_t by_conversion(const Instruction& instruction, std::uint64_t wanted) {
  const ScalarType to = instruction.last_type(1), from = instruction.last_type();
  if (!is_integer(to) || !is_integer(from) || instruction.has(Modifier::kSat)) {
    return kAll;
  }
  return before_extension(before_extension(wanted, to), from);
}

std::uint64_t by_permutation(std::uint64_t selector, std::size_t operand, std::uint64_t wanted) {
  std::uint64_t bits = 0;
  for (std::uint32_t byte = 0; byte < 4; ++byte) {
    const std::uint64_t selected = selector >> (4 * byte) & 0xF;
    const std::uint64_t of_byte = wanted >> (8 * byte) & 0xFF;
    const bool is_sign = (selected & 8) != 0;
    const std::uint64_t source = selected & 7;
    if (of_byte != 0 && (source < 4) == (operand == 1)) {
      bits |= (is_sign ? 0x80 : of_byte) << (8 * (source & 3));
    }
  }
  return bits;
}

// shl or shr by a constant.
std::uint64_t by_shift(const Instruction& instruction, std::uint64_t by, std::uint64_t wanted,
                       std::uint32_t width) {
  if (instruction.opcode == Opcode::kShl) {
    return shifted_down(wanted, by);
  }
  const bool wants_sign =
      is_signed(instruction.last_type()) && (by >= width || (wanted & ~low_bits(width - by)) != 0);
  return (shifted_up(wanted, by) & low_bits(width)) | (wants_sign ? shifted_up(1, width - 1) : 0);
}

}  // namespace

std::uint64_t DemandedBits::of(std::string_view name) {
  const RegisterUses::Register* const found = uses_.find(name);
  if (found == nullptr) {
    return 0;
  }
  // A register that is asked for again while it is looked at goes round a loop.
  const auto [known, is_new] = known_.try_emplace(name, kAll);
  if (!is_new || depth_ >= kDeepest) {
    return known->second;
  }
  ++depth_;
  std::uint64_t bits = 0;
  for (const RegisterUses::Use& use : found->uses) {
    bits |= by(use, name);
    if (bits == kAll) {
      break;
    }
  }
  --depth_;
  known_[name] = bits;
  return bits;
}

std::uint64_t DemandedBits::of_loaded(const Operand& destination, ScalarType type) {
  return destination.kind == Operand::Kind::kSink ? 0
         : destination.kind != Operand::Kind::kRegister
             ? low_bits(std::uint64_t{8} * size_of(type))
             : before_extension(of(destination.name), type);
}

std::uint64_t DemandedBits::by(const RegisterUses::Use& use, std::string_view name) {
  const Instruction& instruction = program_.module.statements[use.statement].instruction;
  const Effect& effect = program_.effects[use.statement];
  if (effect.opcode_class == OpcodeClass::kStore && use.operand == effect.value_operand) {
    return low_bits(std::uint64_t{8} * size_of(effect.type));
  }
  return use.operand > 0 && is_computation(instruction, effect)
             ? by_computation(instruction, static_cast<std::size_t>(use.operand), name)
             : kAll;
}

std::uint64_t DemandedBits::by_computation(const Instruction& instruction, std::size_t operand,
                                           std::string_view name) {
  using enum Opcode;
  const Opcode opcode = instruction.opcode;
  const std::uint32_t width = 8 * size_of(instruction.last_type());
  const Operand& result = instruction.operands[0];
  if (opcode == kMov && width != 0) {
    return by_move(instruction, operand, name, width);
  }
  if (result.kind != Operand::Kind::kRegister || width == 0 ||
      instruction.operands[operand].kind != Operand::Kind::kRegister) {
    return kAll;
  }
  const auto& operands = instruction.operands;
  const auto constant = [&](std::size_t n) {
    return n < operands.size() ? constants_.value_of(operands[n], width / 8) : std::nullopt;
  };
  const bool is_masked = opcode == kAnd || opcode == kOr;
  if (is_masked && operands.size() == 3) {
    const std::uint64_t flip = opcode == kAnd ? 0 : kAll;  // an or leaves what its mask has not
    return of(result.name) & low_bits(width) & (constant(3 - operand).value_or(~flip) ^ flip);
  }
  if (opcode == kXor || opcode == kNot || opcode == kLop3 || (opcode == kSelp && operand < 3)) {
    return of(result.name) & low_bits(width);
  }
  if ((opcode == kShl || opcode == kShr) && operand == 1 && operands.size() == 3) {
    const auto by = constants_.value_of(operands[2], 4);
    return by ? by_shift(instruction, *by, of(result.name) & low_bits(width), width) : kAll;
  }
  if (opcode == kCvt) {
    return by_conversion(instruction, of(result.name));
  }
  const auto selector = constant(3);
  if (opcode == kPrmt && operand < 3 && instruction.modifiers.size() == 1 && selector) {
    return by_permutation(*selector, operand, of(result.name));
  }
  return opcode == kBfe || opcode == kBfi ? by_field(instruction, operand, of(result.name)) : kAll;
}

// mov b, a;   mov {b, c}, a;   mov a, {b, c}
std::uint64_t DemandedBits::by_move(const Instruction& instruction, std::size_t operand,
                                    std::string_view name, std::uint32_t width) {
  const Operand& result = instruction.operands[0];
  const Operand& source = instruction.operands[operand];
  if (result.kind == Operand::Kind::kVector && source.kind == Operand::Kind::kRegister) {
    const std::size_t piece = width / result.elements.size();
    std::uint64_t bits = 0;
    for (std::size_t n = 0; n < result.elements.size(); ++n) {
      if (result.elements[n].kind == Operand::Kind::kRegister) {
        bits |= shifted_up(of(result.elements[n].name) & low_bits(piece), n * piece);
      }
    }
    return bits;
  }
  if (result.kind != Operand::Kind::kRegister) {
    return kAll;
  }
  const std::uint64_t wanted = of(result.name) & low_bits(width);
  if (source.kind != Operand::Kind::kVector) {
    return wanted;
  }
  const std::size_t piece = width / source.elements.size();
  std::uint64_t bits = 0;
  for (std::size_t n = 0; n < source.elements.size(); ++n) {
    if (source.elements[n].name == name) {
      bits |= shifted_down(wanted, n * piece) & low_bits(piece);
    }
  }
  return bits;
}

// bfe d, a, position, length;   bfi d, a, b, position, length
std::uint64_t DemandedBits::by_field(const Instruction& instruction, std::size_t operand,
                                     std::uint64_t wanted) const {
  const auto& operands = instruction.operands;
  const bool extracts = instruction.opcode == Opcode::kBfe;
  const std::size_t first = extracts ? 2 : 3;
  if (operand >= first || operands.size() != first + 2) {
    return kAll;
  }
  const auto position = constants_.value_of(operands[first], 4);
  const auto length = constants_.value_of(operands[first + 1], 4);
  if (!position || !length) {
    return kAll;
  }
  // Both count in their lowest byte.
  const std::uint64_t at = *position & 0xFF, field = low_bits(*length & 0xFF);
  if (!extracts) {
    return operand == 1 ? shifted_down(wanted, at) & field : wanted & ~shifted_up(field, at);
  }
  if (!is_signed(instruction.last_type())) {
    return shifted_up(wanted & field, at);
  }
  // Above the field, and above the register, are copies of the highest bit that there is.
  return wanted == 0
             ? 0
             : shifted_up(field, at) | shifted_up(1, 8 * size_of(instruction.last_type()) - 1);
}

}  // namespace barracuda::ptx

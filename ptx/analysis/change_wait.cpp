#include "ptx/analysis/change_wait.h"

namespace barracuda::ptx {
namespace {

// The instructions of a function that read a register.
class Uses {
 public:
  Uses(const Program& program, const Function& function) : program_(program), function_(function) {}

  // Calls visit(instruction) for those with this opcode that have it as their operand 1 or 2.
  template <typename Visit>
  void for_each(Opcode opcode, std::string_view name, Visit visit) const {
    for (std::size_t i = function_.body_begin; i < function_.body_end; ++i) {
      const Instruction& instruction = program_.module.statements[i].instruction;
      if (program_.module.statements[i].kind == StatementKind::kInstruction &&
          instruction.opcode == opcode && instruction.operands.size() == 3 &&
          (is_register(instruction.operands[1], name) ||
           is_register(instruction.operands[2], name))) {
        visit(instruction);
      }
    }
  }

  [[nodiscard]] bool is_read_by_atomic(const Operand& operand) const {
    for (std::size_t i = function_.body_begin; i < function_.body_end; ++i) {
      const auto& operands = program_.module.statements[i].instruction.operands;
      if (program_.effects[i].opcode_class == OpcodeClass::kAtomic && !operands.empty() &&
          is_register(operands[0], operand.name)) {
        return true;
      }
    }
    return false;
  }

  static bool is_register(const Operand& operand, std::string_view name) {
    return operand.kind == Operand::Kind::kRegister && operand.name == name;
  }

 private:
  const Program& program_;
  const Function& function_;
};

constexpr std::uint64_t kSign = std::uint64_t{1} << 31;

// Of a comparison of all 32 bits: whether they are negative. nvcc makes it of a test of the sign.
bool tests_sign(const Instruction& comparison) {
  const Operand& with = comparison.operands[2];
  const auto bits = static_cast<std::uint32_t>(with.bits);
  const bool with_zero =
      bits == 0 && (comparison.has(Modifier::kLt) || comparison.has(Modifier::kGe));
  const bool with_less =
      bits == ~std::uint32_t{0} && (comparison.has(Modifier::kGt) || comparison.has(Modifier::kLe));
  return comparison.last_type() == ScalarType::kS32 && with.kind == Operand::Kind::kInteger &&
         (with_zero || with_less);
}

}  // namespace

std::uint64_t awaited_change(const Program& program, const Function& function, std::size_t load) {
  const auto& operands = program.module.statements[load].instruction.operands;
  if (operands.empty() || operands[0].kind != Operand::Kind::kRegister) {
    return 0;
  }
  const Uses uses(program, function);
  std::uint64_t awaited = 0;
  uses.for_each(Opcode::kXor, operands[0].name, [&](const Instruction& difference) {
    const bool is_first = Uses::is_register(difference.operands[1], operands[0].name);
    const std::string_view changed = difference.operands[0].name;
    if (!uses.is_read_by_atomic(difference.operands[is_first ? 2 : 1])) {
      return;
    }
    uses.for_each(Opcode::kSetp, changed, [&](const Instruction& comparison) {
      awaited |= tests_sign(comparison) ? kSign : 0;
    });
    uses.for_each(Opcode::kAnd, changed, [&](const Instruction& masked) {
      const Operand& mask = masked.operands[2];
      awaited |= mask.kind == Operand::Kind::kInteger ? mask.bits & 0xFFFFFFFF : 0;
    });
  });
  return awaited;
}

}  // namespace barracuda::ptx

#include "ptx/analysis/result_use.h"

#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_set.hpp>

#include "ptx/analysis/constants.h"

namespace barracuda::ptx {
namespace {

// Registers that depend on the result, of which some have still to be looked at.
class Dependents {
 public:
  void add(const Operand& written) {
    visit_registers(written, [&](const Operand& named) {
      if (seen_.insert(named.name).second) {
        waiting_.push_back(named.name);
      }
    });
  }

  [[nodiscard]] bool are_done() const { return waiting_.empty(); }

  std::string_view take() {
    const std::string_view name = waiting_.back();
    waiting_.pop_back();
    return name;
  }

 private:
  boost::unordered_flat_set<std::string_view> seen_;
  std::vector<std::string_view> waiting_;
};

bool is_harmless(const Effect& effect, const RegisterUses::Use& use) {
  using enum OpcodeClass;
  const OpcodeClass opcode_class = effect.opcode_class;
  const bool is_access = opcode_class == kLoad || opcode_class == kStore ||
                         opcode_class == kAtomic || opcode_class == kReduction;
  return is_access && (use.operand == effect.address_operand ||
                       (opcode_class == kStore && effect.space == StateSpace::kGlobal));
}

}  // namespace

bool decides_nothing(const Program& program, const RegisterUses& uses, std::size_t atomic) {
  Dependents dependents;
  dependents.add(program.module.statements[atomic].instruction.operands[0]);
  while (!dependents.are_done()) {
    const RegisterUses::Register* const found = uses.find(dependents.take());
    if (found == nullptr) {
      continue;
    }
    for (const RegisterUses::Use& use : found->uses) {
      const Instruction& user = program.module.statements[use.statement].instruction;
      const Effect& effect = program.effects[use.statement];
      if (use.operand == RegisterUses::kPredicate) {
        return false;
      }
      if (is_computation(user, effect) || effect.opcode_class == OpcodeClass::kWarpCollective) {
        dependents.add(user.operands[0]);
      } else if (!is_harmless(effect, use)) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace barracuda::ptx

#include "ptx/analysis/grid_workspace.h"

#include <algorithm>
#include <cstddef>

namespace barracuda::ptx {

bool is_grid_workspace(const Operand& operand) {
  return operand.kind == Operand::Kind::kSpecial &&
         (operand.name == "%envreg1" || operand.name == "%envreg2");
}

bool has_grid_barrier(const Program& program, std::uint32_t entry) {
  return std::ranges::any_of(program.functions[entry].reachable, [&](std::uint32_t index) {
    const Function& function = program.function(index);
    for (std::size_t i = function.body_begin; i < function.body_end; ++i) {
      const Statement& statement = program.module.statements[i];
      if (statement.kind == StatementKind::kInstruction &&
          std::ranges::any_of(statement.instruction.operands, is_grid_workspace)) {
        return true;
      }
    }
    return false;
  });
}

}  // namespace barracuda::ptx

#include "ptx/analysis/program.h"
#include "ptx/opcode.h"
#include "ptx/passes/passes.h"

namespace barracuda::ptx::classify_statements {

Expected<void> run(Program& program) {
  const auto& statements = program.module.statements;
  program.effects.assign(statements.size(), Effect{});
  for (std::size_t i = 0; i < statements.size(); ++i) {
    if (statements[i].kind == StatementKind::kInstruction) {
      program.effects[i] = classify(statements[i].instruction);
      ++program.instructions;
    }
  }
  return {};
}

}  // namespace barracuda::ptx::classify_statements

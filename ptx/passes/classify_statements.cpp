#include <string_view>

#include "ptx/analysis/program.h"
#include "ptx/opcode.h"
#include "ptx/passes/passes.h"

namespace barracuda::ptx::classify_statements {
namespace {

// CUDA's own sine and cosine read a table of the digits of pi, which nobody writes. Those of double
// precision are functions that kernels call; if their reads were logged, such a kernel would have
// no states, and all that it does would be logged.
constexpr std::string_view kTableReader = "__internal_trig_reduction_slowpath";

void take_tables_as_constants(Program& program) {
  for (const Function& function : program.module.functions) {
    if (!function.has_body || !function.name.starts_with(kTableReader)) {
      continue;
    }
    for (std::size_t i = function.body_begin; i < function.body_end; ++i) {
      Effect& effect = program.effects[i];
      if (effect.opcode_class == OpcodeClass::kLoad && effect.space == StateSpace::kGlobal &&
          program.module.statements[i].instruction.has(Modifier::kNc)) {
        effect.space = StateSpace::kConst;
      }
    }
  }
}

}  // namespace

Expected<void> run(Program& program) {
  const auto& statements = program.module.statements;
  program.effects.assign(statements.size(), Effect{});
  for (std::size_t i = 0; i < statements.size(); ++i) {
    if (statements[i].kind == StatementKind::kInstruction) {
      program.effects[i] = classify(statements[i].instruction);
      ++program.instructions;
    }
  }
  take_tables_as_constants(program);
  return {};
}

}  // namespace barracuda::ptx::classify_statements

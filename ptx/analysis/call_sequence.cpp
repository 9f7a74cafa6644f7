#include "ptx/analysis/call_sequence.h"

#include "ptx/opcode.h"

namespace barracuda::ptx {
namespace {

bool is_parameter_access(const Statement& statement, OpcodeClass opcode_class) {
  if (statement.kind != StatementKind::kInstruction) {
    return false;
  }
  const Effect effect = classify(statement.instruction);
  return effect.opcode_class == opcode_class && effect.space == StateSpace::kParam;
}

}  // namespace

CallSequence find_call_sequence(const Module& module, const Function& function, std::size_t call) {
  const auto& statements = module.statements;
  CallSequence sequence{.begin = call, .end = call + 1};
  while (sequence.begin - 1 > function.body_begin) {
    const Statement& previous = statements[sequence.begin - 1];
    if (previous.kind != StatementKind::kVariable && previous.kind != StatementKind::kLocation &&
        previous.kind != StatementKind::kCallPrototype &&
        !is_parameter_access(previous, OpcodeClass::kStore)) {
      break;
    }
    --sequence.begin;
  }
  while (statements[sequence.end].kind == StatementKind::kLocation ||
         is_parameter_access(statements[sequence.end], OpcodeClass::kLoad)) {
    ++sequence.end;
  }
  // The predicate of a call may be declared in its block.
  const bool is_block = sequence.begin - 1 > function.body_begin &&
                        statements[sequence.begin - 1].kind == StatementKind::kBlockOpen &&
                        statements[sequence.end].kind == StatementKind::kBlockClose;
  if (is_block && statements[call].instruction.predicate.empty()) {
    --sequence.begin;
    ++sequence.end;
  }
  return sequence;
}

}  // namespace barracuda::ptx

#include "ptx/analysis/heap_call.h"

#include "ptx/analysis/call_sequence.h"
#include "ptx/analysis/program.h"

namespace barracuda::ptx {
namespace {

// What the only element of a call's list stands for: itself if it is a register or a number, of a
// parameter what is stored to it before the call, or loaded from it behind it.
const Operand* value_of(const Module& module, const CallSequence& sequence, const Operand& list,
                        Opcode opcode) {
  if (list.kind != Operand::Kind::kList || list.elements.size() != 1) {
    return nullptr;
  }
  const Operand& only = list.elements[0];
  if (only.kind != Operand::Kind::kSymbol) {
    return &only;
  }
  const std::size_t value = opcode == Opcode::kLd ? 0 : 1;
  for (std::size_t i = sequence.begin; i < sequence.end; ++i) {
    const Instruction& instruction = module.statements[i].instruction;
    if (module.statements[i].kind != StatementKind::kInstruction || instruction.opcode != opcode ||
        instruction.operands.size() != 2) {
      continue;
    }
    const Operand& address = instruction.operands[1 - value];
    if (address.kind == Operand::Kind::kAddress && address.elements[0].name == only.name) {
      return &instruction.operands[value];
    }
  }
  return nullptr;
}

}  // namespace

std::optional<HeapCall> heap_call_at(const Module& module, const Function& function,
                                     std::size_t call) {
  const Instruction& instruction = module.statements[call].instruction;
  const Operand* const callee = callee_of(instruction);
  if (callee == nullptr || callee->kind != Operand::Kind::kSymbol ||
      (callee->name != "malloc" && callee->name != "free")) {
    return std::nullopt;
  }
  const Function* const declared = module.find_function(callee->name);
  const auto arguments = static_cast<std::size_t>(callee - instruction.operands.data()) + 1;
  if ((declared != nullptr && declared->has_body) || arguments >= instruction.operands.size()) {
    return std::nullopt;
  }
  const CallSequence sequence = find_call_sequence(module, function, call);
  const Operand* const argument =
      value_of(module, sequence, instruction.operands[arguments], Opcode::kSt);
  if (callee->name == "free") {
    return argument == nullptr ? std::nullopt : std::optional(HeapCall{.pointer = argument});
  }
  const Operand* const result = value_of(module, sequence, instruction.operands[0], Opcode::kLd);
  if (argument == nullptr || result == nullptr) {
    return std::nullopt;
  }
  return HeapCall{.pointer = result, .bytes = argument};
}

}  // namespace barracuda::ptx

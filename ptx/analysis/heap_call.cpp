#include "ptx/analysis/heap_call.h"

#include "ptx/analysis/call_sequence.h"
#include "ptx/analysis/program.h"

namespace barracuda::ptx {
namespace {

// What is stored to the parameter before the call, or loaded from it behind it (`at` 0).
const Operand* value_beside(const Module& module, const CallSequence& sequence,
                            std::string_view parameter, std::size_t at) {
  for (std::size_t i = sequence.begin; i < sequence.end; ++i) {
    const Instruction& instruction = module.statements[i].instruction;
    const Opcode opcode = at == 0 ? Opcode::kLd : Opcode::kSt;
    if (module.statements[i].kind != StatementKind::kInstruction || instruction.opcode != opcode ||
        instruction.operands.size() != 2) {
      continue;
    }
    const Operand& address = instruction.operands[1 - at];
    if (address.kind == Operand::Kind::kAddress && address.elements[0].name == parameter) {
      return &instruction.operands[at];
    }
  }
  return nullptr;
}

// The only element of a list; empty if it is no such list.
std::string_view only_name(const Operand& list) {
  return list.kind == Operand::Kind::kList && list.elements.size() == 1 ? list.elements[0].name
                                                                        : std::string_view{};
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
      value_beside(module, sequence, only_name(instruction.operands[arguments]), 1);
  if (callee->name == "free") {
    return argument == nullptr ? std::nullopt : std::optional(HeapCall{.pointer = argument});
  }
  const Operand* const result =
      value_beside(module, sequence, only_name(instruction.operands[0]), 0);
  if (argument == nullptr || result == nullptr) {
    return std::nullopt;
  }
  return HeapCall{.pointer = result, .bytes = argument};
}

}  // namespace barracuda::ptx

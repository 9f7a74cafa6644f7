// Calls: of functions of the program, of what the emulator has built in, and of native functions.
#include <fmt/format.h>

#include "emulator/decode/decoders.h"
#include "emulator/execute/control.h"
#include "emulator/execute/native.h"

namespace barracuda::emulator {

using ptx::ScalarType;

namespace {

// One result of a call or one of its arguments; 0 bytes if it can be none. The callee may want an
// argument of 8 bytes where the text does not say how long it is.
Passed bind(CodeEmitter& code, const ptx::Operand& element, bool is_result, bool is_wide) {
  Passed passed;
  if (element.kind == ptx::Operand::Kind::kInteger || element.kind == ptx::Operand::Kind::kFloat) {
    passed.bytes = is_wide ? 8 : 4;
    passed.slot = code.source(element, is_wide ? ScalarType::kB64 : ScalarType::kB32);
    return passed;
  }
  const Symbol* symbol = code.symbols().find(element.name);
  if (symbol != nullptr && symbol->kind == Symbol::Kind::kLocal) {
    passed.local_offset = symbol->offset + static_cast<std::uint32_t>(element.offset);
    passed.bytes = symbol->bytes;
  } else if (element.kind == ptx::Operand::Kind::kRegister) {
    RegisterClass its_class{};
    passed.slot = is_result ? code.write_register(element, its_class)
                            : code.read_register(element, its_class);
    passed.bytes = its_class == RegisterClass::kDoubleWord ? 8
                   : its_class == RegisterClass::kWord     ? 4
                                                           : 0;
  }
  return passed;
}

// The results of a call or, as the callee wants them where it is known, its arguments.
bool bind_passed(CodeEmitter& code, const ptx::Operand& list, const std::vector<Passed>* wanted,
                 std::vector<Passed>& bound) {
  for (const ptx::Operand& element : list.elements) {
    const bool is_wide =
        wanted != nullptr && bound.size() < wanted->size() && (*wanted)[bound.size()].bytes == 8;
    const Passed passed = bind(code, element, wanted == nullptr, is_wide);
    if (passed.bytes == 0) {
      code.refuse(fmt::format("argument {}", element.text));
      return false;
    }
    bound.push_back(passed);
  }
  return true;
}

bool bind_callee(CodeEmitter& code, const ptx::Operand& callee, CallSite& call,
                 Instruction& pattern) {
  if (callee.kind == ptx::Operand::Kind::kRegister) {
    code.builder().needs_addressed_functions();
    pattern.handler = &execute_call;
    pattern.a = code.source(callee, ScalarType::kU64);
    return true;
  }
  if (const ptx::Function* target = code.builder().module().function(callee.name);
      target != nullptr) {
    pattern.handler = &execute_call;
    call.callee = code.builder().function(*target);
    return true;
  }
  pattern.handler = find_builtin(callee.name);
  if (pattern.handler == nullptr) {
    code.refuse(fmt::format("{} is not defined", callee.name));
    return false;
  }
  return true;
}

}  // namespace

// call [(results),] callee [, (arguments) [, prototype]]
void decode_call(CodeEmitter& code, PostponedLoads& postponed,
                 const ptx::Instruction& instruction) {
  const auto& operands = instruction.operands;
  const bool has_results = !operands.empty() && operands[0].kind == ptx::Operand::Kind::kList;
  const std::size_t callee = has_results ? 1 : 0;
  if (operands.size() <= callee) {
    code.refuse("operands");
    return;
  }
  auto call = std::make_unique<CallSite>();
  Instruction pattern;
  const bool has_arguments =
      operands.size() > callee + 1 && operands[callee + 1].kind == ptx::Operand::Kind::kList;
  // A callee that is not decoded yet has no parameters yet: constants are bound by its declaration.
  std::vector<Passed> declared;
  if (const ptx::Function* target =
          code.builder().module().module().find_function(operands[callee].name)) {
    for (const ptx::Variable& parameter : target->parameters) {
      declared.push_back(Passed{.bytes = static_cast<std::uint32_t>(parameter.size())});
    }
  }
  if ((has_results && !bind_passed(code, operands[0], nullptr, call->results)) ||
      (has_arguments && !bind_passed(code, operands[callee + 1], &declared, call->arguments))) {
    return;
  }
  const NativeFunction* native = code.builder().module().native_function(operands[callee].name);
  if (native != nullptr && native->arguments == call->arguments.size()) {
    auto site = std::make_shared<NativeSite>();
    site->call = std::move(*call);
    site->function = native;
    site->shared_offset = code.builder().shared_offset(
        *code.builder().module().shared_variable(native->shared_variable));
    if (!postponed.postpone_log(site)) {
      code.emit(&execute_native, std::move(site));
    }
    return;
  }
  if (!bind_callee(code, operands[callee], *call, pattern)) {
    return;
  }
  pattern.extra = call.get();
  code.emit(pattern);
  code.function().calls.push_back(std::move(call));
}

}  // namespace barracuda::emulator

// Branches, calls, barriers, warp collectives, and what has no or few operands.
#include <fmt/format.h>

#include "emulator/decode/function_decoder.h"
#include "emulator/execute/native.h"

namespace barracuda::emulator {

using ptx::ScalarType;

void FunctionDecoder::decode_branch(const ptx::Instruction& instruction) {
  if (instruction.operands.size() != 1) {
    refuse("operands");
    return;
  }
  branches_.push_back({.instruction = function_.code.size(),
                       .label = instruction.operands[0].name,
                       .block = open_blocks_.back()});
  emit(&execute_branch);
}

// brx.idx index, table
void FunctionDecoder::decode_indexed_branch(const ptx::Instruction& instruction) {
  if (instruction.operands.size() != 2) {
    refuse("operands");
    return;
  }
  const auto found = tables_.find(instruction.operands[1].name);
  if (found == tables_.end()) {
    refuse(fmt::format("there are no branch targets {}", instruction.operands[1].text));
    return;
  }
  const Slot index = source(instruction.operands[0], ScalarType::kU32);
  function_.branch_tables.push_back(std::make_unique<BranchTable>());
  BranchTable* table = function_.branch_tables.back().get();
  for (const std::string_view label : found->second->targets) {
    branches_.push_back({.instruction = function_.code.size(),
                         .label = label,
                         .block = open_blocks_.back(),
                         .table = table});
  }
  Instruction& emitted = emit(&execute_indexed_branch);
  emitted.a = index;
  emitted.extra = table;
}

// The results of a call or, as the callee wants them where it is known, its arguments.
bool FunctionDecoder::bind_passed(const Operand& list, const std::vector<Passed>* wanted,
                                  std::vector<Passed>& bound) {
  for (const Operand& element : list.elements) {
    const Symbol* symbol = symbols_.find(element.name);
    Passed passed;
    if (element.kind != Operand::Kind::kInteger && element.kind != Operand::Kind::kFloat &&
        symbol != nullptr && symbol->kind == Symbol::Kind::kLocal) {
      passed.local_offset = symbol->offset + static_cast<std::uint32_t>(element.offset);
      passed.bytes = symbol->bytes;
    } else if (element.kind == Operand::Kind::kRegister) {
      RegisterClass its_class{};
      passed.slot = wanted == nullptr ? write_register(element, its_class)
                                      : read_register(element, its_class);
      passed.bytes = its_class == RegisterClass::kDoubleWord ? 8
                     : its_class == RegisterClass::kWord     ? 4
                                                             : 0;
    } else if (element.kind == Operand::Kind::kInteger || element.kind == Operand::Kind::kFloat) {
      const bool wide =
          wanted != nullptr && bound.size() < wanted->size() && (*wanted)[bound.size()].bytes == 8;
      passed.bytes = wide ? 8 : 4;
      passed.slot = source(element, wide ? ScalarType::kB64 : ScalarType::kB32);
    }
    if (passed.bytes == 0) {
      refuse(fmt::format("argument {}", element.text));
      return false;
    }
    bound.push_back(passed);
  }
  return true;
}

bool FunctionDecoder::bind_callee(const Operand& callee, CallSite& call, Instruction& pattern) {
  if (callee.kind == Operand::Kind::kRegister) {
    builder_.needs_addressed_functions();
    pattern.handler = &execute_call;
    pattern.a = source(callee, ScalarType::kU64);
    return true;
  }
  if (const ptx::Function* target = builder_.module().function(callee.name); target != nullptr) {
    pattern.handler = &execute_call;
    call.callee = builder_.function(*target);
    return true;
  }
  pattern.handler = find_builtin(callee.name);
  if (pattern.handler == nullptr) {
    refuse(fmt::format("{} is not defined", callee.name));
    return false;
  }
  return true;
}

void FunctionDecoder::emit_native_call(const NativeFunction& native, CallSite call) {
  auto site = std::make_shared<NativeSite>();
  site->call = std::move(call);
  site->function = &native;
  site->shared_offset =
      builder_.shared_offset(*builder_.module().shared_variable(native.shared_variable));
  if (postpone_log(site)) {
    return;
  }
  emit(&execute_native).extra = site.get();
  function_.owned.push_back(std::move(site));
}

// call [(results),] callee [, (arguments) [, prototype]]
void FunctionDecoder::decode_call(const ptx::Instruction& instruction) {
  const auto& operands = instruction.operands;
  const bool has_results = !operands.empty() && operands[0].kind == Operand::Kind::kList;
  const std::size_t callee = has_results ? 1 : 0;
  if (operands.size() <= callee) {
    refuse("operands");
    return;
  }
  auto call = std::make_unique<CallSite>();
  Instruction pattern;
  const bool has_arguments =
      operands.size() > callee + 1 && operands[callee + 1].kind == Operand::Kind::kList;
  // A callee that is not decoded yet has no parameters yet: constants are bound by its declaration.
  std::vector<Passed> declared;
  if (const ptx::Function* target = module_.find_function(operands[callee].name)) {
    for (const ptx::Variable& parameter : target->parameters) {
      declared.push_back(Passed{.bytes = static_cast<std::uint32_t>(parameter.size())});
    }
  }
  if ((has_results && !bind_passed(operands[0], nullptr, call->results)) ||
      (has_arguments && !bind_passed(operands[callee + 1], &declared, call->arguments))) {
    return;
  }
  const NativeFunction* native = builder_.module().native_function(operands[callee].name);
  if (native != nullptr && native->arguments == call->arguments.size()) {
    emit_native_call(*native, std::move(*call));
    return;
  }
  if (!bind_callee(operands[callee], *call, pattern)) {
    return;
  }
  Instruction& emitted = emit(pattern.handler);
  emitted.a = pattern.a;
  emitted.extra = call.get();
  function_.calls.push_back(std::move(call));
}

// bar.{sync,arrive,red…} and barrier.… with optional .cta and .aligned; bar.warp.sync.
void FunctionDecoder::decode_barrier(const ptx::Instruction& instruction) {
  const Form form = read_form(instruction);
  const auto& operands = instruction.operands;
  if (form.has(Modifier::kWarp)) {
    decode_collective(instruction);
    return;
  }
  if (form.has(Modifier::kCluster)) {
    emit(form.has(Modifier::kArrive) ? &execute_cluster_arrive : &execute_cluster_wait);
    return;
  }
  const bool reduces = form.has(Modifier::kRed);
  const std::size_t first = reduces ? 1 : 0, last = operands.size() - (reduces ? 1 : 0);
  if (operands.empty() || last <= first || last - first > 2) {
    refuse("operands");
    return;
  }
  const Slot a = source(operands[first], ScalarType::kU32);
  const Slot b = last - first == 2 ? source(operands[first + 1], ScalarType::kU32) : kNoSlot;
  BarrierResult result = BarrierResult::kNone;
  Slot c = kNoSlot, d = kNoSlot;
  if (reduces) {
    result = form.has(Modifier::kPopc)  ? BarrierResult::kPopulation
             : form.has(Modifier::kAnd) ? BarrierResult::kAll
                                        : BarrierResult::kAny;
    c = source(operands.back(), ScalarType::kPred);
    d = destination(operands[0],
                    result == BarrierResult::kPopulation ? ScalarType::kU32 : ScalarType::kPred);
  }
  Instruction& emitted =
      emit(form.has(Modifier::kArrive) ? &execute_barrier_arrive : &execute_barrier);
  emitted.a = a;
  emitted.b = b;
  emitted.c = c;
  emitted.d = d;
  emitted.flags = static_cast<std::uint8_t>(result);
}

namespace {

ScalarType operand_type(OperandClass operand_class) {
  return operand_class == OperandClass::kPredicate    ? ScalarType::kPred
         : operand_class == OperandClass::kDoubleWord ? ScalarType::kB64
                                                      : ScalarType::kB32;
}

}  // namespace

// d[|e], sources …, member mask
void FunctionDecoder::decode_collective(const ptx::Instruction& instruction) {
  const Form form = read_form(instruction);
  const Collective collective = select_collective(form);
  const auto& operands = instruction.operands;
  if (collective.handler == nullptr || operands.empty() || (!form.has(Modifier::kSync))) {
    refuse("this warp collective");
    return;
  }
  const CollectiveShape& shape = *collective.shape;
  const bool has_result = shape.d != OperandClass::kNone;
  Instruction pattern;
  std::size_t next = has_result ? 1 : 0;
  const OperandClass kinds[] = {shape.a, shape.b, shape.c};
  Slot* const slots[] = {&pattern.a, &pattern.b, &pattern.c};
  for (std::size_t i = 0; i < 3 && kinds[i] != OperandClass::kNone; ++i, ++next) {
    if (next + 1 >= operands.size()) {
      refuse("operands");
      return;
    }
    *slots[i] = source(operands[next], operand_type(kinds[i]));
  }
  if (next + 1 != operands.size()) {
    refuse("operands");
    return;
  }
  pattern.immediate = source(operands[next], ScalarType::kB32);
  if (has_result) {
    const bool pair = operands[0].kind == Operand::Kind::kPair;
    pattern.d = destination(pair ? operands[0].elements[0] : operands[0], operand_type(shape.d));
    pattern.e = pair ? destination(operands[0].elements[1], operand_type(shape.e)) : kNoSlot;
  }
  pattern.handler = collective.handler;
  pattern.extra = &shape;
  pattern.statement = statement_;
  pattern.predicate = predicate_;
  pattern.predicate_negated = predicate_negated_;
  function_.code.push_back(pattern);
}

// Without operands, or with operands that do not matter here.
bool FunctionDecoder::decode_simple(const ptx::Instruction& instruction) {
  static const boost::unordered_flat_map<Opcode, Handler> handlers = {
      {Opcode::kRet, &execute_return},         {Opcode::kExit, &execute_exit},
      {Opcode::kTrap, &execute_trap},          {Opcode::kBrkpt, &execute_breakpoint},
      {Opcode::kMembar, &execute_fence},       {Opcode::kFence, &execute_fence},
      {Opcode::kNanosleep, &execute_sleep},    {Opcode::kPrefetch, &execute_nothing},
      {Opcode::kPrefetchu, &execute_nothing},  {Opcode::kApplypriority, &execute_nothing},
      {Opcode::kDiscard, &execute_nothing},    {Opcode::kPmevent, &execute_nothing},
      {Opcode::kSetmaxnreg, &execute_nothing}, {Opcode::kGriddepcontrol, &execute_nothing}};
  if (instruction.opcode == Opcode::kActivemask && instruction.operands.size() == 1) {
    const Slot d = destination(instruction.operands[0], ScalarType::kB32);
    emit(&execute_active_mask).d = d;
    return true;
  }
  const auto found = handlers.find(instruction.opcode);
  if (found == handlers.end()) {
    return false;
  }
  if (found->second == &execute_return) {
    for (const std::uint32_t number : returned_) {
      uses_.read(number);
    }
  }
  emit(found->second);
  return true;
}

}  // namespace barracuda::emulator

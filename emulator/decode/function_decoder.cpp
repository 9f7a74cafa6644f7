// Decodes one function: declares its names, and has each of its instructions decoded. It is done
// twice: where registers lie is known when all their uses are.
#include <algorithm>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>
#include <fmt/format.h>

#include "base/assert.h"
#include "emulator/decode/code_blocks.h"
#include "emulator/decode/code_emitter.h"
#include "emulator/decode/decoders.h"
#include "emulator/decode/postponed_loads.h"
#include "emulator/decode/program_builder.h"
#include "emulator/execute/control.h"
#include "emulator/execute/native.h"
#include "emulator/state/memory_use.h"
#include "ptx/abi.h"

namespace barracuda::emulator {

using ptx::StatementKind;
using ptx::StateSpace;

namespace {

// How an instruction is decoded that is more than a handler with typed operands, or less: one whose
// operands do not matter here.
struct Named {
  Decoder decode = nullptr;
  Handler handler = nullptr;  // where there is no decoder
};

const boost::unordered_flat_map<Opcode, Named>& named() {
  static const boost::unordered_flat_map<Opcode, Named> table = {
      {Opcode::kMov, {.decode = &decode_move}},
      {Opcode::kLd, {.decode = &decode_load}},
      {Opcode::kLdu, {.decode = &decode_load}},
      {Opcode::kSt, {.decode = &decode_store}},
      {Opcode::kAtom, {.decode = &decode_atomic}},
      {Opcode::kRed, {.decode = &decode_atomic}},
      {Opcode::kCp, {.decode = &decode_async_copy}},
      {Opcode::kMbarrier, {.decode = &decode_mbarrier}},
      {Opcode::kClusterlaunchcontrol, {.decode = &decode_cancellation}},
      {Opcode::kMapa, {.decode = &decode_cluster_address}},
      {Opcode::kGetctarank, {.decode = &decode_cluster_address}},
      {Opcode::kAlloca, {.decode = &decode_stack}},
      {Opcode::kStacksave, {.decode = &decode_stack}},
      {Opcode::kStackrestore, {.decode = &decode_stack}},
      {Opcode::kMma, {.decode = &decode_mma}},
      {Opcode::kWmma, {.decode = &decode_wmma}},
      {Opcode::kLdmatrix, {.decode = &decode_matrix_rows}},
      {Opcode::kStmatrix, {.decode = &decode_matrix_rows}},
      {Opcode::kMovmatrix, {.decode = &decode_move_matrix}},
      {Opcode::kWgmma, {.decode = &decode_warpgroup}},
      {Opcode::kTcgen05, {.decode = &decode_tensor_core}},
      {Opcode::kTensormap, {.decode = &decode_tensor_map}},
      {Opcode::kTex, {.decode = &decode_texels}},
      {Opcode::kTld4, {.decode = &decode_texels}},
      {Opcode::kSuld, {.decode = &decode_texels}},
      {Opcode::kSust, {.decode = &decode_texels}},
      {Opcode::kTxq, {.decode = &decode_texture_query}},
      {Opcode::kSuq, {.decode = &decode_texture_query}},
      {Opcode::kCvta, {.decode = &decode_address_conversion}},
      {Opcode::kIsspacep, {.decode = &decode_is_space}},
      {Opcode::kBar, {.decode = &decode_barrier}},
      {Opcode::kBarrier, {.decode = &decode_barrier}},
      {Opcode::kShfl, {.decode = &decode_collective}},
      {Opcode::kVote, {.decode = &decode_collective}},
      {Opcode::kMatch, {.decode = &decode_collective}},
      {Opcode::kRedux, {.decode = &decode_collective}},
      {Opcode::kElect, {.decode = &decode_collective}},
      {Opcode::kActivemask, {.decode = &decode_active_mask}},
      {Opcode::kExit, {.handler = &execute_exit}},
      {Opcode::kTrap, {.handler = &execute_trap}},
      {Opcode::kBrkpt, {.handler = &execute_breakpoint}},
      {Opcode::kMembar, {.handler = &execute_fence}},
      {Opcode::kFence, {.handler = &execute_fence}},
      {Opcode::kNanosleep, {.handler = &execute_sleep}},
      {Opcode::kPrefetch, {.handler = &execute_nothing}},
      {Opcode::kPrefetchu, {.handler = &execute_nothing}},
      {Opcode::kApplypriority, {.handler = &execute_nothing}},
      {Opcode::kDiscard, {.handler = &execute_nothing}},
      {Opcode::kPmevent, {.handler = &execute_nothing}},
      {Opcode::kSetmaxnreg, {.handler = &execute_nothing}},
      {Opcode::kGriddepcontrol, {.handler = &execute_nothing}}};
  return table;
}

// Of an instruction whose decoder has not said what it does to memory.
MemoryUse use_by_opcode(Opcode opcode, Handler handler) {
  using enum Opcode;
  constexpr Opcode kMeeting[] = {kBar, kBarrier, kShfl, kVote, kMatch, kRedux, kElect};
  constexpr Opcode kAccessing[] = {kSt,        kAtom,     kRed,      kCp,    kMbarrier,
                                   kWmma,      kLdmatrix, kStmatrix, kWgmma, kTcgen05,
                                   kTensormap, kTex,      kTld4,     kSuld,  kSust};
  if (opcode == kCall) {
    const bool enters = handler == &execute_call || handler == &execute_native;
    return enters ? MemoryUse::kNone : MemoryUse::kOther;
  }
  return std::ranges::count(kMeeting, opcode) != 0     ? MemoryUse::kMeets
         : std::ranges::count(kAccessing, opcode) != 0 ? MemoryUse::kOther
                                                       : MemoryUse::kNone;
}

class FunctionDecoder {
 public:
  FunctionDecoder(ProgramBuilder& builder, const ptx::Function& source, Function& function,
                  const FrameLayout* layout)
      : module_(builder.module().module()),
        source_(source),
        function_(function),
        is_weak_(builder.module().weakness() != nullptr),
        code_(builder, function, layout),
        blocks_(function),
        postponed_(code_, blocks_, source) {}

  FrameLayout plan();
  void decode();

 private:
  void declare_parameters();
  void declare(const ptx::Variable& variable);
  void declare_function_parameter(const ptx::Variable& variable, std::vector<Passed>& passed);
  void decode_body();
  void decode_statement(std::size_t index);
  void decode_instruction(const ptx::Instruction& instruction);
  bool decode_predicate(const ptx::Instruction& instruction);
  void decode_operation(const ptx::Instruction& instruction);
  // Of what was emitted for it, from this place of the code on.
  void note_memory_use(const ptx::Instruction& instruction, std::size_t begin);
  void decode_branch(const ptx::Instruction& instruction);
  void decode_indexed_branch(const ptx::Instruction& instruction);
  void decode_return();

  const ptx::Module& module_;
  const ptx::Function& source_;
  Function& function_;
  const bool is_weak_;
  CodeEmitter code_;
  CodeBlocks blocks_;
  PostponedLoads postponed_;
  boost::unordered_flat_map<std::string_view, const ptx::Statement*> tables_;  // .branchtargets …
  std::vector<std::uint32_t> returned_;  // the registers of the results
};

void FunctionDecoder::declare_function_parameter(const ptx::Variable& variable,
                                                 std::vector<Passed>& passed) {
  Symbol symbol;
  symbol.bytes = static_cast<std::uint32_t>(variable.size());
  Passed place;
  place.bytes = symbol.bytes;
  if (variable.space == StateSpace::kReg) {
    symbol.register_class = register_class(variable.type);
    symbol.number = code_.registers().uses().add(symbol.register_class);
    place.slot = code_.registers().slot_of(symbol.number);
    if (&passed == &function_.returns) {
      returned_.push_back(symbol.number);
    } else {
      code_.registers().uses().write(symbol.number, true);
    }
  } else {
    symbol.kind = Symbol::Kind::kLocal;
    symbol.is_parameter = true;
    symbol.offset = blocks_.new_local(symbol.bytes, ptx::alignment_of(variable));
    place.local_offset = symbol.offset;
  }
  passed.push_back(place);
  code_.symbols().declare(variable.name, symbol);
}

void FunctionDecoder::declare_parameters() {
  if (!source_.is_entry) {
    for (const ptx::Variable& variable : source_.parameters) {
      declare_function_parameter(variable, function_.parameters);
    }
    for (const ptx::Variable& variable : source_.returns) {
      declare_function_parameter(variable, function_.returns);
    }
    return;
  }
  const ptx::ParameterLayout layout = ptx::parameter_layout(source_);
  for (std::size_t i = 0; i < layout.places.size(); ++i) {
    Symbol symbol;
    symbol.kind = Symbol::Kind::kKernelParameter;
    symbol.offset = layout.places[i].offset;
    symbol.bytes = layout.places[i].size;
    code_.symbols().declare(source_.parameters[i].name, symbol);
  }
}

void FunctionDecoder::declare(const ptx::Variable& variable) {
  Symbol symbol;
  symbol.bytes = static_cast<std::uint32_t>(variable.size());
  if (variable.space == StateSpace::kReg) {
    symbol.register_class = register_class(variable.type);
    symbol.vector = variable.vector;
    if (variable.range > 0) {
      code_.symbols().declare_range(variable.name, symbol, variable.range);
    } else {
      code_.symbols().declare(variable.name, symbol);
    }
  } else if (variable.space == StateSpace::kLocal || variable.space == StateSpace::kParam) {
    symbol.kind = Symbol::Kind::kLocal;
    symbol.is_parameter = variable.space == StateSpace::kParam;
    symbol.offset = blocks_.new_local(symbol.bytes, ptx::alignment_of(variable));
    code_.symbols().declare(variable.name, symbol);
  } else if (variable.space == StateSpace::kShared) {
    symbol.kind = Symbol::Kind::kShared;
    symbol.variable = &variable;
    code_.symbols().declare(variable.name, symbol);
  }
}

void FunctionDecoder::decode_statement(std::size_t index) {
  postponed_.complete(index);
  const ptx::Statement& statement = module_.statements[index];
  switch (statement.kind) {
    case StatementKind::kBlockOpen:
      blocks_.open();
      code_.symbols().open();
      break;
    case StatementKind::kBlockClose:
      blocks_.close();
      code_.symbols().close();
      break;
    case StatementKind::kVariable:
      for (const ptx::Variable& variable : statement.variables) {
        declare(variable);
      }
      break;
    case StatementKind::kLabel:
      blocks_.add_label(statement.label);
      break;
    case StatementKind::kInstruction:
      code_.begin_step(static_cast<std::uint32_t>(index));
      decode_instruction(statement.instruction);
      break;
    case StatementKind::kVersion:
    case StatementKind::kTarget:
    case StatementKind::kAddressSize:
    case StatementKind::kFile:
    case StatementKind::kFunction:
    case StatementKind::kLocation:
    case StatementKind::kBranchTargets:
    case StatementKind::kCallTargets:
    case StatementKind::kCallPrototype:
    case StatementKind::kPragma:
    case StatementKind::kSection:
    case StatementKind::kOther:
      break;
  }
}

bool FunctionDecoder::decode_predicate(const ptx::Instruction& instruction) {
  if (instruction.predicate.empty()) {
    return true;
  }
  ptx::Operand predicate;
  predicate.kind = ptx::Operand::Kind::kRegister;
  predicate.name = instruction.predicate;
  RegisterClass its_class{};
  const Slot slot = code_.read_register(predicate, its_class);
  if (slot == kNoSlot || its_class != RegisterClass::kPredicate) {
    return false;
  }
  code_.set_predicate(slot, instruction.predicate_negated);
  return true;
}

void FunctionDecoder::decode_instruction(const ptx::Instruction& instruction) {
  const std::size_t code_size = function_.code.size(), branches = blocks_.branches();
  if (!decode_predicate(instruction)) {
    code_.unsupported("its predicate is not declared");
    return;
  }
  decode_operation(instruction);
  if (!code_.refusal().empty()) {
    function_.code.resize(code_size);
    blocks_.take_back_branches(branches);
    code_.unsupported(code_.refusal());
    return;
  }
  note_memory_use(instruction, code_size);
  if (is_weak_ && function_.code.size() > code_size) {
    make_weak(code_, postponed_, instruction);
  }
  code_.convert_results();
}

void FunctionDecoder::note_memory_use(const ptx::Instruction& instruction, std::size_t begin) {
  const std::span<Instruction> emitted(function_.code.begin() + static_cast<std::ptrdiff_t>(begin),
                                       function_.code.end());
  const bool is_known =
      std::ranges::any_of(emitted, [](const Instruction& each) { return each.memory != 0; });
  if (!is_known && !emitted.empty()) {
    emitted.back().memory = memory_use(use_by_opcode(instruction.opcode, emitted.back().handler));
  }
}

void FunctionDecoder::decode_operation(const ptx::Instruction& instruction) {
  if (instruction.opcode == Opcode::kBra) {
    decode_branch(instruction);
  } else if (instruction.opcode == Opcode::kBrx) {
    decode_indexed_branch(instruction);
  } else if (instruction.opcode == Opcode::kCall) {
    decode_call(code_, postponed_, instruction);
  } else if (instruction.opcode == Opcode::kRet) {
    decode_return();
  } else if (const auto found = named().find(instruction.opcode); found == named().end()) {
    decode_arithmetic(code_, instruction);
  } else if (found->second.decode != nullptr) {
    found->second.decode(code_, instruction);
  } else {
    code_.emit(found->second.handler);
  }
}

void FunctionDecoder::decode_branch(const ptx::Instruction& instruction) {
  if (instruction.operands.size() != 1) {
    code_.refuse("operands");
    return;
  }
  blocks_.add_branch(instruction.operands[0].name);
  code_.emit(&execute_branch);
}

// brx.idx index, table
void FunctionDecoder::decode_indexed_branch(const ptx::Instruction& instruction) {
  if (instruction.operands.size() != 2) {
    code_.refuse("operands");
    return;
  }
  const auto found = tables_.find(instruction.operands[1].name);
  if (found == tables_.end()) {
    code_.refuse(fmt::format("there are no branch targets {}", instruction.operands[1].text));
    return;
  }
  const Slot index = code_.source(instruction.operands[0], ptx::ScalarType::kU32);
  BranchTable* const table =
      code_.function().branch_tables.emplace_back(std::make_unique<BranchTable>()).get();
  for (const std::string_view label : found->second->targets) {
    blocks_.add_branch(label, table);
  }
  code_.emit({.handler = &execute_indexed_branch, .a = index, .extra = table});
}

void FunctionDecoder::decode_return() {
  for (const std::uint32_t number : returned_) {
    code_.registers().uses().read(number);
  }
  code_.emit(&execute_return);
}

void FunctionDecoder::decode_body() {
  for (std::size_t i = source_.body_begin; i <= source_.body_end; ++i) {
    const ptx::Statement& statement = module_.statements[i];
    if (statement.kind == StatementKind::kBranchTargets) {
      tables_.insert_or_assign(statement.label, &statement);
    }
  }
  code_.symbols().open();
  declare_parameters();
  for (std::size_t i = source_.body_begin; i <= source_.body_end; ++i) {
    decode_statement(i);
  }
  // Falling off the end is a return.
  code_.begin_step(code_.statement());
  decode_return();
  blocks_.resolve_branches();
}

// Its code cannot be executed: its slots are the numbers of registers.
FrameLayout FunctionDecoder::plan() {
  decode_body();
  return code_.registers().plan(code_.step_ends());
}

void FunctionDecoder::decode() {
  decode_body();
  code_.finish();
}

}  // namespace

void decode_function(ProgramBuilder& builder, const ptx::Function& source, Function& function) {
  Function draft;
  const FrameLayout layout = FunctionDecoder(builder, source, draft, nullptr).plan();
  FunctionDecoder(builder, source, function, &layout).decode();
  ASSERT(function.code.size() == draft.code.size());
}

}  // namespace barracuda::emulator

#include "emulator/decode/function_decoder.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "base/align.h"
#include "base/assert.h"
#include "ptx/abi.h"

namespace barracuda::emulator {

using ptx::StatementKind;
using ptx::StateSpace;

FunctionDecoder::FunctionDecoder(ProgramBuilder& builder, const ptx::Function& source,
                                 Function& function, const FrameLayout* layout)
    : builder_(builder),
      module_(builder.module().module()),
      source_(source),
      function_(function),
      layout_(layout) {}

std::uint32_t FunctionDecoder::new_local(std::uint64_t bytes, std::uint32_t alignment) {
  const std::uint32_t offset = align_up(local_top_, std::max(alignment, std::uint32_t{8}));
  local_top_ = offset + static_cast<std::uint32_t>(bytes);
  function_.local_bytes = std::max(function_.local_bytes, align_up(local_top_, 16));
  return offset;
}

void FunctionDecoder::open_block() {
  Block block;
  block.parent = open_blocks_.empty() ? 0 : open_blocks_.back();
  block.local_top = local_top_;
  open_blocks_.push_back(static_cast<std::uint32_t>(blocks_.size()));
  blocks_.push_back(std::move(block));
  symbols_.open();
}

void FunctionDecoder::close_block() {
  ASSERT(!open_blocks_.empty());
  local_top_ = std::max(blocks_[open_blocks_.back()].local_top, kept_top_);
  open_blocks_.pop_back();
  symbols_.close();
}

void FunctionDecoder::declare_function_parameter(const ptx::Variable& variable,
                                                 std::vector<Passed>& passed) {
  Symbol symbol;
  symbol.bytes = static_cast<std::uint32_t>(variable.size());
  Passed place;
  place.bytes = symbol.bytes;
  if (variable.space == StateSpace::kReg) {
    symbol.register_class = register_class(variable.type);
    symbol.number = uses_.add(symbol.register_class);
    place.slot = slot_of(symbol.number);
    if (&passed == &function_.returns) {
      returned_.push_back(symbol.number);
    } else {
      uses_.write(symbol.number, true);
    }
  } else {
    symbol.kind = Symbol::Kind::kLocal;
    symbol.is_parameter = true;
    symbol.offset = new_local(symbol.bytes, ptx::alignment_of(variable));
    place.local_offset = symbol.offset;
  }
  passed.push_back(place);
  symbols_.declare(variable.name, symbol);
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
    symbols_.declare(source_.parameters[i].name, symbol);
  }
}

void FunctionDecoder::declare(const ptx::Variable& variable) {
  Symbol symbol;
  symbol.bytes = static_cast<std::uint32_t>(variable.size());
  if (variable.space == StateSpace::kReg) {
    symbol.register_class = register_class(variable.type);
    symbol.vector = variable.vector;
    if (variable.range > 0) {
      symbols_.declare_range(variable.name, symbol, variable.range);
    } else {
      symbols_.declare(variable.name, symbol);
    }
  } else if (variable.space == StateSpace::kLocal || variable.space == StateSpace::kParam) {
    symbol.kind = Symbol::Kind::kLocal;
    symbol.is_parameter = variable.space == StateSpace::kParam;
    symbol.offset = new_local(symbol.bytes, ptx::alignment_of(variable));
    symbols_.declare(variable.name, symbol);
  } else if (variable.space == StateSpace::kShared) {
    symbol.kind = Symbol::Kind::kShared;
    symbol.variable = &variable;
    symbols_.declare(variable.name, symbol);
  }
}

void FunctionDecoder::decode_statement(std::size_t index) {
  if (!postponed_.empty()) {
    complete_loads(index);
  }
  const ptx::Statement& statement = module_.statements[index];
  switch (statement.kind) {
    case StatementKind::kBlockOpen:
      open_block();
      break;
    case StatementKind::kBlockClose:
      close_block();
      break;
    case StatementKind::kVariable:
      for (const ptx::Variable& variable : statement.variables) {
        declare(variable);
      }
      break;
    case StatementKind::kLabel:
      blocks_[open_blocks_.back()].labels.insert_or_assign(
          statement.label, static_cast<std::uint32_t>(function_.code.size()));
      break;
    case StatementKind::kInstruction:
      statement_ = static_cast<std::uint32_t>(index);
      next_step();
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

void FunctionDecoder::decode_instruction(const ptx::Instruction& instruction) {
  const std::size_t code_size = function_.code.size(), branches = branches_.size();
  settlements_.clear();
  refusal_.clear();
  predicate_ = kNoSlot;
  predicate_negated_ = instruction.predicate_negated;
  if (!instruction.predicate.empty()) {
    Operand predicate;
    predicate.kind = Operand::Kind::kRegister;
    predicate.name = instruction.predicate;
    RegisterClass its_class{};
    const Slot slot = read_register(predicate, its_class);
    if (slot == kNoSlot || its_class != RegisterClass::kPredicate) {
      unsupported("its predicate is not declared");
      return;
    }
    predicate_ = slot;
  }
  if (!decode_named(instruction)) {
    decode_arithmetic(instruction);
  }
  if (!refusal_.empty()) {
    function_.code.resize(code_size);
    branches_.resize(branches);
    unsupported(refusal_);
    return;
  }
  if (builder_.module().weakness() != nullptr && function_.code.size() > code_size) {
    make_weak(instruction);
  }
  settle();
}

// Instructions that are more than a handler with typed operands.
bool FunctionDecoder::decode_named(const ptx::Instruction& instruction) {
  using Decode = void (FunctionDecoder::*)(const ptx::Instruction&);
  static const boost::unordered_flat_map<Opcode, Decode> decoders = {
      {Opcode::kMov, &FunctionDecoder::decode_move},
      {Opcode::kLd, &FunctionDecoder::decode_load},
      {Opcode::kLdu, &FunctionDecoder::decode_load},
      {Opcode::kSt, &FunctionDecoder::decode_store},
      {Opcode::kAtom, &FunctionDecoder::decode_atomic},
      {Opcode::kRed, &FunctionDecoder::decode_atomic},
      {Opcode::kCp, &FunctionDecoder::decode_async_copy},
      {Opcode::kMbarrier, &FunctionDecoder::decode_mbarrier},
      {Opcode::kMapa, &FunctionDecoder::decode_cluster_address},
      {Opcode::kGetctarank, &FunctionDecoder::decode_cluster_address},
      {Opcode::kAlloca, &FunctionDecoder::decode_stack},
      {Opcode::kStacksave, &FunctionDecoder::decode_stack},
      {Opcode::kStackrestore, &FunctionDecoder::decode_stack},
      {Opcode::kMma, &FunctionDecoder::decode_mma},
      {Opcode::kWmma, &FunctionDecoder::decode_wmma},
      {Opcode::kLdmatrix, &FunctionDecoder::decode_matrix_rows},
      {Opcode::kStmatrix, &FunctionDecoder::decode_matrix_rows},
      {Opcode::kMovmatrix, &FunctionDecoder::decode_move_matrix},
      {Opcode::kWgmma, &FunctionDecoder::decode_warpgroup},
      {Opcode::kCvta, &FunctionDecoder::decode_address_conversion},
      {Opcode::kIsspacep, &FunctionDecoder::decode_is_space},
      {Opcode::kBra, &FunctionDecoder::decode_branch},
      {Opcode::kBrx, &FunctionDecoder::decode_indexed_branch},
      {Opcode::kCall, &FunctionDecoder::decode_call},
      {Opcode::kBar, &FunctionDecoder::decode_barrier},
      {Opcode::kBarrier, &FunctionDecoder::decode_barrier},
      {Opcode::kShfl, &FunctionDecoder::decode_collective},
      {Opcode::kVote, &FunctionDecoder::decode_collective},
      {Opcode::kMatch, &FunctionDecoder::decode_collective},
      {Opcode::kRedux, &FunctionDecoder::decode_collective},
      {Opcode::kElect, &FunctionDecoder::decode_collective}};
  const auto found = decoders.find(instruction.opcode);
  if (found != decoders.end()) {
    (this->*found->second)(instruction);
    return true;
  }
  return decode_simple(instruction);
}

std::uint32_t FunctionDecoder::find_label(std::string_view label, std::uint32_t block) const {
  for (;;) {
    const auto found = blocks_[block].labels.find(label);
    if (found != blocks_[block].labels.end()) {
      return found->second;
    }
    if (block == 0) {
      return kNoSlot;
    }
    block = blocks_[block].parent;
  }
}

void FunctionDecoder::resolve_branches() {
  for (const Branch& branch : branches_) {
    ASSERT(branch.instruction < function_.code.size());
    const std::uint32_t target = find_label(branch.label, branch.block);
    Instruction& instruction = function_.code[branch.instruction];
    if (target == kNoSlot) {
      function_.reasons.push_back(std::make_unique<std::string>(
          fmt::format("a branch to {}, which does not exist, was executed", branch.label)));
      instruction.handler = &execute_unsupported;
      instruction.extra = function_.reasons.back().get();
    } else if (branch.table != nullptr) {
      branch.table->targets.push_back(target);
    } else {
      instruction.immediate = target;
    }
  }
}

void FunctionDecoder::finish_constants() {
  const std::size_t bytes = align_up(constants_.size(), 64) + 64;
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(64, bytes));
  ASSERT(memory != nullptr);
  std::memset(memory, 0, bytes);
  std::ranges::copy(constants_, memory);
  function_.constants.reset(memory);
  for (const auto& [offset, lane_bytes] : dynamic_constants_) {
    builder_.add_dynamic_offset(function_, offset, lane_bytes, 16);
  }
}

void FunctionDecoder::next_step() {
  uses_.next_step();
  step_begins_.push_back(static_cast<std::uint32_t>(function_.code.size()));
}

// Only the last instruction of a step may lead elsewhere.
std::vector<StepEnd> FunctionDecoder::step_ends() const {
  ASSERT(!step_begins_.empty() && step_begins_.front() == 0);
  DEBUG_ASSERT(std::ranges::is_sorted(step_begins_));
  const auto step_at = [this](std::uint64_t pc) {
    const auto after = std::ranges::upper_bound(step_begins_, pc);
    return static_cast<std::uint32_t>(after - step_begins_.begin()) - 1;
  };
  std::vector<StepEnd> ends(step_begins_.size());
  for (std::size_t step = 0; step < ends.size(); ++step) {
    const std::size_t behind =
        step + 1 < ends.size() ? step_begins_[step + 1] : function_.code.size();
    if (behind == step_begins_[step]) {
      continue;
    }
    const Instruction& last = function_.code[behind - 1];
    if (last.handler == &execute_branch) {
      ends[step].targets.push_back(step_at(static_cast<std::uint64_t>(last.immediate)));
    } else if (last.handler == &execute_indexed_branch) {
      for (const std::uint32_t pc : static_cast<const BranchTable*>(last.extra)->targets) {
        ends[step].targets.push_back(step_at(pc));
      }
    } else if (last.handler != &execute_return && last.handler != &execute_exit &&
               last.handler != &execute_trap && last.handler != &execute_unsupported) {
      continue;
    }
    ends[step].goes_on = last.predicate != kNoSlot;
  }
  return ends;
}

void FunctionDecoder::decode_body() {
  for (std::size_t i = source_.body_begin; i <= source_.body_end; ++i) {
    const ptx::Statement& statement = module_.statements[i];
    if (statement.kind == StatementKind::kBranchTargets) {
      tables_.insert_or_assign(statement.label, &statement);
    } else if (statement.kind == StatementKind::kCallPrototype) {
      prototypes_.insert_or_assign(statement.label, &statement);
    }
  }
  symbols_.open();
  declare_parameters();
  for (std::size_t i = source_.body_begin; i <= source_.body_end; ++i) {
    decode_statement(i);
  }
  // Falling off the end is a return.
  predicate_ = kNoSlot;
  next_step();
  decode_simple(ptx::Instruction{.opcode = Opcode::kRet});
  resolve_branches();
}

FrameLayout FunctionDecoder::plan() {
  decode_body();
  return lay_out_frame(uses_.classes(), uses_.stretches(step_ends()), uses_.steps());
}

void FunctionDecoder::decode() {
  decode_body();
  // The registers that the frame was laid out for.
  ASSERT(uses_.classes().size() == layout_->slots.size());
  finish_constants();
  function_.register_bytes = layout_->bytes;
}

void decode_function(ProgramBuilder& builder, const ptx::Function& source, Function& function) {
  Function draft;
  const FrameLayout layout = FunctionDecoder(builder, source, draft, nullptr).plan();
  FunctionDecoder(builder, source, function, &layout).decode();
  ASSERT(function.code.size() == draft.code.size());
}

}  // namespace barracuda::emulator

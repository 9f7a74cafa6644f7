#include "ptx/analysis/shared_writes.h"

#include <algorithm>

#include "ptx/analysis/load_or_store.h"
#include "ptx/analysis/program.h"

namespace barracuda::ptx {
namespace {

// In the body of another function.
bool is_elsewhere(const Module& module, const Function& function, std::size_t at) {
  return std::ranges::any_of(module.functions, [&](const Function& other) {
    return &other != &function && other.has_body && at >= other.body_begin && at < other.body_end;
  });
}

}  // namespace

bool SharedWrites::Sources::add(const Sources& other) {
  const std::size_t before = count();
  variables.insert(other.variables.begin(), other.variables.end());
  is_argument = is_argument || other.is_argument;
  is_loaded = is_loaded || other.is_loaded;
  return count() != before;
}

std::size_t SharedWrites::Sources::count() const {
  return variables.size() + (is_argument ? 1 : 0) + (is_loaded ? 1 : 0);
}

SharedWrites::SharedWrites(const Module& module, const Function& function)
    : module_(module), function_(function), constants_(module, function) {
  find_variables();
  while (!own_.empty() && read_registers()) {
  }
  find_writes();
}

std::optional<SharedPiece> SharedWrites::read_by(std::size_t statement) const {
  const Instruction* const instruction = instruction_at(statement);
  if (instruction == nullptr || instruction->opcode != Opcode::kLd) {
    return std::nullopt;
  }
  return piece_of(statement, classify(*instruction));
}

bool SharedWrites::may_write(std::size_t statement, const SharedPiece& piece) const {
  const auto found = writes_.find(statement);
  if (found == writes_.end()) {
    return false;
  }
  const std::optional<SharedPiece>& written = found->second.piece;
  return !written || written->meets(piece);
}

bool SharedWrites::may_lead_to(std::size_t statement, std::string_view variable) const {
  const auto found = writes_.find(statement);
  return found != writes_.end() &&
         (found->second.sources.is_loaded || found->second.sources.variables.empty() ||
          found->second.sources.variables.contains(variable));
}

void SharedWrites::find_variables() {
  for (std::size_t i = 0; i < module_.statements.size(); ++i) {
    const Statement& statement = module_.statements[i];
    for (const Variable& variable : statement.variables) {
      if (statement.kind == StatementKind::kVariable && variable.space == StateSpace::kShared &&
          !is_elsewhere(module_, function_, i)) {
        all_.insert(variable.name);
        if (!variable.is_extern) {
          own_.insert(variable.name);
        }
      }
    }
  }
}

bool SharedWrites::read_registers() {
  bool changes = false;
  for (std::size_t i = function_.body_begin; i < function_.body_end; ++i) {
    const Instruction* const instruction = instruction_at(i);
    if (instruction == nullptr || instruction->operands.empty() ||
        instruction->operands[0].kind == Operand::Kind::kAddress) {
      continue;
    }
    const Sources made = made_by(*instruction);
    visit_registers(instruction->operands[0], [&](const Operand& written) {
      changes = registers_[written.name].add(made) || changes;
    });
  }
  return changes;
}

void SharedWrites::find_writes() {
  for (std::size_t i = function_.body_begin; i < function_.body_end; ++i) {
    std::optional<Sources> sources = written_through(i);
    if (sources && (sources->is_loaded || !sources->is_argument || !sources->variables.empty())) {
      const Effect effect = classify(module_.statements[i].instruction);
      writes_.emplace(i, Write{.piece = piece_of(i, effect), .sources = *std::move(sources)});
    }
  }
}

const Instruction* SharedWrites::instruction_at(std::size_t statement) const {
  const Statement& at = module_.statements[statement];
  return at.kind == StatementKind::kInstruction ? &at.instruction : nullptr;
}

std::optional<SharedPiece> SharedWrites::piece_of(std::size_t statement,
                                                  const Effect& effect) const {
  using enum OpcodeClass;
  const OpcodeClass opcode_class = effect.opcode_class;
  const bool is_plain = opcode_class == kLoad || opcode_class == kStore ||
                        opcode_class == kAtomic || opcode_class == kReduction;
  const Operand* const address = address_of(module_.statements[statement], effect);
  if (!is_plain || address == nullptr || effect.space != StateSpace::kShared) {
    return std::nullopt;
  }
  const std::optional<NamedPlace> place = constants_.place_of(*address);
  if (!place || !own_.contains(place->name)) {
    return std::nullopt;
  }
  const std::int64_t bytes = std::int64_t{size_of(effect.type)} * effect.elements;
  return SharedPiece{.variable = place->name, .first = place->offset, .end = place->offset + bytes};
}

SharedWrites::Sources SharedWrites::sources_of(const Operand& operand) const {
  Sources sources;
  if (operand.kind == Operand::Kind::kSymbol && all_.contains(operand.name)) {
    sources.variables.insert(operand.name);
  } else if (operand.kind == Operand::Kind::kRegister) {
    const auto found = registers_.find(operand.name);
    return found == registers_.end() ? sources : found->second;
  }
  for (const Operand& element : operand.elements) {
    sources.add(sources_of(element));
  }
  return sources;
}

// A sum of an address and a loaded index is of the address; which of two was chosen, or moved, is
// not known.
SharedWrites::Sources SharedWrites::computed(const Instruction& instruction) const {
  const bool is_sum = instruction.opcode != Opcode::kSelp && instruction.opcode != Opcode::kMov &&
                      instruction.opcode != Opcode::kCvt && instruction.opcode != Opcode::kCvta;
  Sources all;
  bool is_doubtful = false;
  for (std::size_t i = 1; i < instruction.operands.size(); ++i) {
    const Sources operand = sources_of(instruction.operands[i]);
    is_doubtful = is_doubtful || (operand.is_loaded && !operand.variables.empty());
    all.add(operand);
  }
  all.is_loaded = all.is_loaded && (is_doubtful || !is_sum || all.variables.empty());
  // An offset that was passed, taken for an address of shared memory.
  all.is_loaded = all.is_loaded || (all.is_argument && instruction.opcode == Opcode::kCvta &&
                                    instruction.has(Modifier::kShared));
  return all;
}

SharedWrites::Sources SharedWrites::made_by(const Instruction& instruction) const {
  const Effect effect = classify(instruction);
  if (effect.opcode_class == OpcodeClass::kArithmetic) {
    return computed(instruction);
  }
  const bool is_argument = effect.opcode_class == OpcodeClass::kLoad &&
                           effect.space == StateSpace::kParam && function_.is_entry;
  return {.variables = {}, .is_argument = is_argument, .is_loaded = !is_argument};
}

std::optional<SharedWrites::Sources> SharedWrites::written_through(std::size_t statement) const {
  Sources anywhere{.variables = {}, .is_loaded = true};
  const Instruction* const instruction = instruction_at(statement);
  if (instruction == nullptr) {
    return std::nullopt;
  }
  const Effect effect = classify(*instruction);
  using enum OpcodeClass;
  switch (effect.opcode_class) {
    case kStore:
    case kAtomic:
    case kReduction:
    case kMatrixAccess: {
      if (effect.space == StateSpace::kGlobal || effect.space == StateSpace::kLocal ||
          only_loads(effect)) {
        return std::nullopt;
      }
      const Operand* const address = address_of(module_.statements[statement], effect);
      return address == nullptr ? anywhere : sources_of(*address);
    }
    case kArithmetic:
    case kLoad:
    case kFence:
    case kProxyFence:
    case kBarrier:
    case kWarpBarrier:
    case kWarpCollective:
    case kBranch:
    case kReturn:
    case kExit:
    case kTrap:
    case kGridDependency:
    case kNoEffect:
      return std::nullopt;
    case kAsyncCopy:
    case kBarrierArrive:
    case kClusterBarrier:
    case kMbarrier:
    case kCall:
    case kTexture:
    case kUnknown:
      return anywhere;
  }
  return anywhere;
}

}  // namespace barracuda::ptx

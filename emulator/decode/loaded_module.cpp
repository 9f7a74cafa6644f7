#include "emulator/decode/loaded_module.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/assert.h"
#include "base/expected.h"
#include "emulator/state/address_windows.h"
#include "emulator/state/host_address.h"
#include "ptx/analysis/source_frames.h"

namespace barracuda::emulator {

namespace {

using ptx::Operand;
using ptx::ScalarType;
using ptx::StatementKind;
using ptx::StateSpace;

// Variables outside functions.
template <class Visit>
void for_each_variable(const ptx::Module& module, Visit visit) {
  std::size_t depth = 0;
  for (const ptx::Statement& statement : module.statements) {
    if (statement.kind == StatementKind::kBlockOpen) {
      ++depth;
    } else if (statement.kind == StatementKind::kBlockClose) {
      ASSERT(depth != 0);
      --depth;
    } else if (statement.kind == StatementKind::kVariable && depth == 0) {
      for (const ptx::Variable& variable : statement.variables) {
        visit(variable);
      }
    }
  }
}

std::uint16_t half_bits(double value) {
  return std::bit_cast<std::uint16_t>(static_cast<_Float16>(value));
}

}  // namespace

std::uint64_t immediate_bits(const Operand& operand, ScalarType type) {
  const bool single = type == ScalarType::kF32;
  if (operand.kind == Operand::Kind::kInteger) {
    const auto value = static_cast<double>(static_cast<std::int64_t>(operand.bits));
    return single                     ? std::bit_cast<std::uint32_t>(static_cast<float>(value))
           : type == ScalarType::kF64 ? std::bit_cast<std::uint64_t>(value)
                                      : operand.bits;
  }
  const double value =
      operand.float_bits == 32
          ? static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(operand.bits)))
          : std::bit_cast<double>(operand.bits);
  switch (ptx::size_of(type)) {
    case 2:
      return half_bits(value);
    case 8:
      return operand.float_bits == 64 ? operand.bits : std::bit_cast<std::uint64_t>(value);
    default:
      // A NaN keeps its bits.
      return operand.float_bits == 32 ? operand.bits
                                      : std::bit_cast<std::uint32_t>(static_cast<float>(value));
  }
}

const Program& LoadedKernel::program() const {
  std::call_once(decoded_, [this] { program_ = decode_program(module_, function_); });
  return *program_;
}

LoadedModule::~LoadedModule() {
  for (const auto& [name, variable] : variables_) {
    memory_.release(variable.address);
  }
}

Expected<void> LoadedModule::place_variables() {
  for (const ptx::Function& function : module_->functions) {
    if (function.has_body) {
      functions_.emplace(function.name, &function);
    }
  }
  std::vector<const ptx::Variable*> placed;
  Expected<void> result;
  for_each_variable(*module_, [&](const ptx::Variable& variable) {
    if (variable.space == StateSpace::kShared) {
      shared_.emplace(variable.name, &variable);
    }
    const bool stored =
        variable.space == StateSpace::kGlobal || variable.space == StateSpace::kConst;
    if (!stored || variable.is_extern || !result || variables_.contains(variable.name)) {
      return;
    }
    const std::uint64_t bytes = std::max<std::uint64_t>(variable.size(), 1);
    const auto address = memory_.allocate(
        bytes, variable.is_managed ? AllocationKind::kManaged : AllocationKind::kModule);
    if (!address) {
      result = unexpected(address.error());
      return;
    }
    variables_.emplace(variable.name,
                       GlobalVariable{.address = *address, .bytes = variable.size()});
    if (variable.space == StateSpace::kConst) {
      const_bytes_ += static_cast<std::uint32_t>(bytes);
      const_ranges_.emplace_back(*address, *address + bytes);
    }
    placed.push_back(&variable);
  });
  if (!result) {
    return result;
  }
  for (const ptx::Variable* variable : placed) {
    initialise(*variable, variables_.at(variable->name).address);
  }
  find_addressed_functions();
  return {};
}

std::uint64_t LoadedModule::initial_value(const ptx::Variable& variable,
                                          const Operand& operand) const {
  if (operand.kind != Operand::Kind::kSymbol) {
    return immediate_bits(operand, variable.type);
  }
  std::uint64_t value = 0;
  if (const GlobalVariable* other = this->variable(operand.name); other != nullptr) {
    value = other->address;
  } else if (const ptx::Function* code = function(operand.name); code != nullptr) {
    value = address_of(*code);
  }
  value += static_cast<std::uint64_t>(operand.offset);
  if (operand.component.starts_with("mask") && operand.bits != 0) {
    return (value & operand.bits) >> std::countr_zero(operand.bits);
  }
  return value;
}

void LoadedModule::initialise(const ptx::Variable& variable, std::uint64_t address) const {
  auto* memory = host_address<std::byte>(address);
  const std::uint64_t size = variable.size();
  std::memset(memory, 0, size);
  const std::uint64_t step = ptx::size_of(variable.type);
  std::uint64_t offset = 0;
  for (const Operand& operand : variable.initializer) {
    if (offset + step > size) {
      break;
    }
    ASSERT(step != 0);
    const std::uint64_t value = initial_value(variable, operand);
    std::memcpy(memory + offset, &value, std::min<std::uint64_t>(step, sizeof value));
    offset += step;
  }
}

void LoadedModule::note_addressed(const Operand& operand) {
  if (operand.kind == Operand::Kind::kSymbol) {
    const ptx::Function* code = function(operand.name);
    if (code != nullptr && std::ranges::find(addressed_, code) == addressed_.end()) {
      addressed_.push_back(code);
    }
  }
  for (const Operand& element : operand.elements) {
    note_addressed(element);
  }
}

void LoadedModule::find_addressed_functions() {
  for_each_variable(*module_, [this](const ptx::Variable& variable) {
    for (const Operand& operand : variable.initializer) {
      note_addressed(operand);
    }
  });
  for (const ptx::Statement& statement : module_->statements) {
    if (statement.kind != StatementKind::kInstruction ||
        statement.instruction.opcode == ptx::Opcode::kCall) {
      continue;
    }
    for (const Operand& operand : statement.instruction.operands) {
      note_addressed(operand);
    }
  }
}

// The innermost line of each instruction that a user wrote.
void LoadedModule::find_places() {
  places_.resize(module_->statements.size());
  ptx::SourceFrames frames(*module_);
  const auto is_library = [this](const ptx::SourceFrame& frame) {
    return frame.file.empty() ||
           (weakness_->is_library_file && weakness_->is_library_file(frame.file));
  };
  for (const ptx::Function& function : module_->functions) {
    if (!function.has_body) {
      continue;
    }
    frames.enter(function);
    for (std::size_t i = function.body_begin; i <= function.body_end; ++i) {
      if (module_->statements[i].kind == StatementKind::kInstruction) {
        const auto chain = frames.at(i);
        const auto found = std::ranges::find_if_not(chain, is_library);
        const ptx::SourceFrame& frame = found == chain.end() ? chain.front() : *found;
        places_[i] = {.file = frame.file, .line = frame.line};
      }
    }
  }
}

void LoadedModule::find_kernels() {
  if (weakness_ != nullptr) {
    find_places();
  }
  texts_.reserve(module_->statements.size());
  for (const ptx::Statement& statement : module_->statements) {
    texts_.push_back({.text = statement.text, .line = statement.position.line});
  }
  for (const ptx::Function& function : module_->functions) {
    if (function.is_entry && function.has_body) {
      kernels_.push_back(std::make_unique<LoadedKernel>(*this, function));
    }
  }
}

const GlobalVariable* LoadedModule::variable(std::string_view name) const {
  const auto found = variables_.find(name);
  return found == variables_.end() ? nullptr : &found->second;
}

const ptx::Function* LoadedModule::function(std::string_view name) const {
  const auto found = functions_.find(name);
  return found == functions_.end() ? nullptr : found->second;
}

const NativeFunction* LoadedModule::native_function(std::string_view name) const {
  const auto found = std::ranges::find(native_functions_, name, &NativeFunction::name);
  const bool is_complete =
      found != native_functions_.end() && shared_.contains(found->shared_variable);
  return is_complete ? &*found : nullptr;
}

const ptx::Variable* LoadedModule::shared_variable(std::string_view name) const {
  const auto found = shared_.find(name);
  return found == shared_.end() ? nullptr : found->second;
}

std::uint64_t LoadedModule::address_of(const ptx::Function& function) const {
  ASSERT(&function >= module_->functions.data() &&
         &function < module_->functions.data() + module_->functions.size());
  const auto number = static_cast<std::uint64_t>(&function - module_->functions.data());
  return address_windows().code() + (number + 1) * 16;
}

}  // namespace barracuda::emulator

#include "ptx/analysis/variables.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "ptx/analysis/constants.h"
#include "ptx/triton_memory.h"

namespace barracuda::ptx {
namespace {

constexpr std::string_view kLoaded = "*";
// Names go around loops; pointers in PTX take few hops. Stopping early leaves names out.
constexpr int kMostRounds = 8;
constexpr std::size_t kMostNames = 4;

bool is_pointer_wide(const Instruction& instruction) {
  return instruction.has(Modifier::kU64) || instruction.has(Modifier::kB64) ||
         instruction.has(Modifier::kS64);
}

// The operands whose names the result bears; [first, last) of them.
std::pair<std::size_t, std::size_t> sources_of(const Instruction& instruction) {
  using enum Opcode;
  constexpr Opcode kAll[] = {kMov, kAdd, kCvta, kCvt, kAnd, kOr, kMax, kMin};
  const std::size_t count = instruction.operands.size();
  if (std::ranges::find(kAll, instruction.opcode) != std::end(kAll)) {
    return {1, count};
  }
  // mapa: the same variable of another block of the cluster.
  if ((instruction.opcode == Opcode::kSub || instruction.opcode == Opcode::kMapa) && count == 3) {
    return {1, 2};
  }
  if (instruction.opcode == Opcode::kSelp && count == 4) {
    return {1, 3};
  }
  if (instruction.opcode == Opcode::kMad && count == 4) {
    return {3, 4};
  }
  return {0, 0};
}

}  // namespace

Variables::Variables(const Module& module, const Function& function) {
  bool changes = true;
  for (int round = 0; changes && round < kMostRounds; ++round) {
    changes = false;
    for (std::size_t i = function.body_begin; i < function.body_end; ++i) {
      if (module.statements[i].kind == StatementKind::kInstruction) {
        changes = follow(module.statements[i].instruction) || changes;
      }
    }
  }
}

bool Variables::follow(const Instruction& instruction) {
  if (instruction.operands.size() < 2) {
    return false;
  }
  if (instruction.opcode == Opcode::kLd || instruction.opcode == Opcode::kLdu) {
    return is_pointer_wide(instruction) && add(instruction.operands[0], names_loaded(instruction));
  }
  const auto [first, last] = sources_of(instruction);
  Names names;
  for (std::size_t i = first; i < last; ++i) {
    names.merge(names_of(instruction.operands[i]));
  }
  return add(instruction.operands[0], names);
}

bool Variables::add(const Operand& destination, const Names& names) {
  bool changes = false;
  if (names.empty()) {
    return false;
  }
  visit_registers(destination, [&](const Operand& name) {
    Names& known = registers_[name.name];
    for (const std::string& each : names) {
      changes = (known.size() < kMostNames && known.insert(each).second) || changes;
    }
  });
  return changes;
}

Variables::Names Variables::names_of(const Operand& operand) const {
  Names names;
  if (operand.kind == Operand::Kind::kSymbol) {
    names.emplace(operand.name);
  } else if (operand.kind == Operand::Kind::kRegister) {
    if (const auto found = registers_.find(operand.name); found != registers_.end()) {
      names = found->second;
    }
  } else if (operand.kind == Operand::Kind::kAddress && !operand.elements.empty()) {
    names = names_of(operand.elements.front());
  }
  return names;
}

Variables::Names Variables::names_loaded(const Instruction& load) const {
  const Operand& address = load.operands[1];
  const std::string offset = address.offset == 0 ? "" : "+" + std::to_string(address.offset);
  Names names;
  for (const std::string& base : names_of(address)) {
    const std::string place = base == kTritonMemory ? "" : offset;
    if (load.has(Modifier::kParam)) {
      names.insert(base + place);
    } else {
      std::string name(kLoaded);
      name += base.starts_with(kLoaded) ? "" : base + place;
      names.insert(std::move(name));
    }
  }
  return names;
}

std::string Variables::of(const Operand& address) const {
  std::string text;
  for (const std::string& name : names_of(address)) {
    text += (text.empty() ? "" : ", ") + name;
  }
  return text;
}

}  // namespace barracuda::ptx

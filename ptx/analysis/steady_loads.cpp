#include "ptx/analysis/steady_loads.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string_view>
#include <utility>

#include "ptx/analysis/constants.h"
#include "ptx/analysis/program.h"
#include "ptx/analysis/register_sizes.h"
#include "ptx/opcode.h"

namespace barracuda::ptx {
namespace {

constexpr std::uint32_t kPointerBytes = 8;

// What an address may be computed from: shared variables, by their names, and what is loaded.
// Neither: a number.
struct Sources {
  std::set<std::string_view> variables;
  bool is_unknown = false;

  bool add(const Sources& other) {
    const std::size_t before = variables.size() + (is_unknown ? 1 : 0);
    variables.insert(other.variables.begin(), other.variables.end());
    is_unknown = is_unknown || other.is_unknown;
    return variables.size() + (is_unknown ? 1 : 0) != before;
  }
};

std::set<std::string_view> shared_variables(const Module& module) {
  std::set<std::string_view> names;
  for (const Statement& statement : module.statements) {
    for (const Variable& variable : statement.variables) {
      if (statement.kind == StatementKind::kVariable && variable.space == StateSpace::kShared) {
        names.insert(variable.name);
      }
    }
  }
  return names;
}

class Finder {
 public:
  Finder(const Module& module, const Function& function, const ControlFlow& flow)
      : module_(module), function_(function), flow_(flow), shared_(shared_variables(module)) {}

  // Before anything is asked but for the loads.
  void read() {
    while (read_registers()) {
    }
  }

  [[nodiscard]] std::vector<std::size_t> loads() const {
    std::vector<std::size_t> found;
    for (std::size_t i = function_.body_begin; i < function_.body_end; ++i) {
      if (!variable_of(i).empty()) {
        found.push_back(i);
      }
    }
    return found;
  }

  // None if it is not one of those.
  [[nodiscard]] std::vector<std::size_t> barriers_before(std::size_t load) const {
    const std::string_view variable = variable_of(load);
    std::vector<std::size_t> barriers = last_barriers(load);
    const bool is_written = std::ranges::any_of(
        barriers, [&](std::size_t barrier) { return is_written_behind(barrier, variable); });
    return is_written ? std::vector<std::size_t>{} : std::move(barriers);
  }

 private:
  [[nodiscard]] const Instruction* instruction_at(std::size_t at) const {
    const Statement& statement = module_.statements[at];
    return statement.kind == StatementKind::kInstruction ? &statement.instruction : nullptr;
  }

  [[nodiscard]] bool is_barrier(std::size_t at) const {
    const Instruction* const instruction = instruction_at(at);
    if (instruction == nullptr || !instruction->predicate.empty()) {
      return false;
    }
    const Effect effect = classify(*instruction);
    return effect.opcode_class == OpcodeClass::kBarrier && effect.count_operand < 0;
  }

  // That a load reads by its name, all or a fixed part of it.
  [[nodiscard]] std::string_view variable_of(std::size_t at) const {
    const Instruction* const instruction = instruction_at(at);
    if (instruction == nullptr || instruction->opcode != Opcode::kLd) {
      return {};
    }
    const Operand* const address = address_of(module_.statements[at], classify(*instruction));
    const bool is_named = address != nullptr && address->kind == Operand::Kind::kAddress &&
                          address->elements.size() == 1 &&
                          address->elements[0].kind == Operand::Kind::kSymbol &&
                          address->elements[0].elements.empty();
    return is_named && shared_.contains(address->elements[0].name) ? address->elements[0].name
                                                                   : std::string_view{};
  }

  [[nodiscard]] Sources sources_of(const Operand& operand) const {
    Sources sources;
    if (operand.kind == Operand::Kind::kSymbol && shared_.contains(operand.name)) {
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

  // What is loaded and as wide as a pointer may be one; what a call returns is loaded as well.
  bool read_registers() {
    bool changes = false;
    RegisterSizes sizes;
    sizes.enter(function_);
    for (std::size_t i = function_.body_begin; i < function_.body_end; ++i) {
      sizes.read(module_.statements[i]);
      const Instruction* const instruction = instruction_at(i);
      if (instruction == nullptr || instruction->operands.empty() ||
          instruction->operands[0].kind == Operand::Kind::kAddress) {
        continue;
      }
      Sources made;
      if (classify(*instruction).opcode_class == OpcodeClass::kArithmetic) {
        for (std::size_t k = 1; k < instruction->operands.size(); ++k) {
          made.add(sources_of(instruction->operands[k]));
        }
      } else {
        made.is_unknown = true;
      }
      visit_registers(instruction->operands[0], [&](const Operand& written) {
        if (!made.is_unknown || sizes.bytes_of(written) >= kPointerBytes) {
          changes = registers_[written.name].add(made) || changes;
        }
      });
    }
    return changes;
  }

  [[nodiscard]] bool may_write(std::size_t at, std::string_view variable) const {
    const Instruction* const instruction = instruction_at(at);
    if (instruction == nullptr) {
      return false;
    }
    const Effect effect = classify(*instruction);
    using enum OpcodeClass;
    switch (effect.opcode_class) {
      case kStore:
      case kAtomic:
      case kReduction: {
        if (effect.space == StateSpace::kGlobal || effect.space == StateSpace::kLocal) {
          return false;
        }
        const Operand* const address = address_of(module_.statements[at], effect);
        const Sources sources = address == nullptr ? Sources{} : sources_of(*address);
        return sources.is_unknown || sources.variables.empty() ||
               sources.variables.contains(variable);
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
      case kNoEffect:
        return false;
      case kMatrixAccess:
      case kAsyncCopy:
      case kBarrierArrive:
      case kClusterBarrier:
      case kGridDependency:
      case kMbarrier:
      case kCall:
      case kTexture:
      case kUnknown:
        return true;
    }
    return true;
  }

  // Going back; none where a way begins with the function.
  [[nodiscard]] std::vector<std::size_t> last_barriers(std::size_t load) const {
    struct Part {
      std::uint32_t block;
      std::size_t end;
    };

    std::vector<std::size_t> barriers;
    std::vector<Part> todo{{flow_.block_of(load), load}};
    std::vector<bool> is_seen(flow_.blocks.size());
    while (!todo.empty()) {
      const auto [index, end] = todo.back();
      todo.pop_back();
      const BasicBlock& block = flow_.blocks[index];
      std::size_t at = end;
      while (at > block.begin && !is_barrier(at - 1)) {
        --at;
      }
      if (at > block.begin) {
        barriers.push_back(at - 1);
        continue;
      }
      if (index == 0) {
        return {};
      }
      for (const std::uint32_t before : block.predecessors) {
        if (flow_.blocks[before].is_reachable && !is_seen[before]) {
          is_seen[before] = true;
          todo.push_back({before, flow_.blocks[before].end});
        }
      }
    }
    return barriers;
  }

  // Before the next barriers.
  [[nodiscard]] bool is_written_behind(std::size_t barrier, std::string_view variable) const {
    std::vector<std::size_t> todo{barrier + 1};
    std::vector<bool> is_seen(flow_.blocks.size());
    while (!todo.empty()) {
      std::size_t at = todo.back();
      todo.pop_back();
      const BasicBlock& block = flow_.blocks[flow_.block_of(at)];
      const std::size_t end = std::min(block.end, function_.body_end);
      for (; at < end && !is_barrier(at); ++at) {
        if (may_write(at, variable)) {
          return true;
        }
      }
      for (const std::uint32_t next : block.successors) {
        if (at == end && !is_seen[next]) {
          is_seen[next] = true;
          todo.push_back(flow_.blocks[next].begin);
        }
      }
    }
    return false;
  }

  const Module& module_;
  const Function& function_;
  const ControlFlow& flow_;
  const std::set<std::string_view> shared_;
  boost::unordered_flat_map<std::string_view, Sources> registers_;
};

}  // namespace

SteadyLoads::SteadyLoads(const Module& module, const Function& function, const ControlFlow& flow) {
  Finder finder(module, function, flow);
  const std::vector<std::size_t> loads = finder.loads();
  if (!loads.empty()) {
    finder.read();
  }
  for (const std::size_t load : loads) {
    if (std::vector<std::size_t> barriers = finder.barriers_before(load); !barriers.empty()) {
      barriers_.emplace(load, std::move(barriers));
    }
  }
}

const std::vector<std::size_t>* SteadyLoads::barriers_before(std::size_t load) const {
  const auto found = barriers_.find(load);
  return found == barriers_.end() ? nullptr : &found->second;
}

}  // namespace barracuda::ptx

#include "ptx/analysis/steady_loads.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "ptx/analysis/constants.h"
#include "ptx/analysis/program.h"
#include "ptx/opcode.h"

namespace barracuda::ptx {
namespace {

// What an address may be computed from: shared variables, by their names, and what is loaded.
// Neither: a number.
struct Sources {
  std::set<std::string_view> variables;
  bool is_loaded = false;

  bool add(const Sources& other) {
    const std::size_t before = variables.size() + (is_loaded ? 1 : 0);
    variables.insert(other.variables.begin(), other.variables.end());
    is_loaded = is_loaded || other.is_loaded;
    return variables.size() + (is_loaded ? 1 : 0) != before;
  }
};

// The shared variables that a function may name. Those that are extern lie all at one place.
struct SharedVariables {
  std::set<std::string_view> all, own;

  SharedVariables(const Module& module, const Function& function) {
    for (std::size_t i = 0; i < module.statements.size(); ++i) {
      const Statement& statement = module.statements[i];
      for (const Variable& variable : statement.variables) {
        if (statement.kind == StatementKind::kVariable && variable.space == StateSpace::kShared &&
            !is_elsewhere(module, function, i)) {
          all.insert(variable.name);
          if (!variable.is_extern) {
            own.insert(variable.name);
          }
        }
      }
    }
  }

 private:
  // In the body of another function.
  static bool is_elsewhere(const Module& module, const Function& function, std::size_t at) {
    return std::ranges::any_of(module.functions, [&](const Function& other) {
      return &other != &function && other.has_body && at >= other.body_begin && at < other.body_end;
    });
  }
};

// Each question is answered once, for an unrolled product has thousands of such loads.
class Finder {
 public:
  Finder(const Module& module, const Function& function, const ControlFlow& flow)
      : module_(module), function_(function), flow_(flow), shared_(module, function) {
    for (std::size_t i = function_.body_begin; i < function_.body_end; ++i) {
      if (!variable_of(i).empty()) {
        loads_.push_back(i);
      }
    }
    if (loads_.empty()) {
      return;
    }
    find_barriers();
    while (read_registers()) {
    }
  }

  [[nodiscard]] const std::vector<std::size_t>& loads() const { return loads_; }

  // None if it is not one of those.
  [[nodiscard]] std::vector<std::size_t> barriers_before(std::size_t load) {
    const std::string_view variable = variable_of(load);
    const std::size_t last = last_in_block_[load - function_.body_begin];
    const std::vector<std::size_t> barriers =
        last != kNone ? std::vector{last} : barriers_into(flow_.block_of(load));
    const bool is_written = std::ranges::any_of(barriers, [&](std::size_t barrier) {
      const auto [known, is_new] = written_.try_emplace({barrier, variable});
      if (is_new) {
        known->second = is_written_behind(barrier, variable);
      }
      return known->second;
    });
    return is_written ? std::vector<std::size_t>{} : barriers;
  }

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};

  [[nodiscard]] const Instruction* instruction_at(std::size_t at) const {
    const Statement& statement = module_.statements[at];
    return statement.kind == StatementKind::kInstruction ? &statement.instruction : nullptr;
  }

  void find_barriers() {
    const std::size_t size = function_.body_end - function_.body_begin;
    is_barrier_.resize(size);
    last_in_block_.resize(size, kNone);
    for (const BasicBlock& block : flow_.blocks) {
      std::size_t last = kNone;
      for (std::size_t i = block.begin; i < std::min(block.end, function_.body_end); ++i) {
        last_in_block_[i - function_.body_begin] = last;
        const Instruction* const instruction = instruction_at(i);
        if (instruction != nullptr && instruction->predicate.empty()) {
          const Effect effect = classify(*instruction);
          if (effect.opcode_class == OpcodeClass::kBarrier && effect.count_operand < 0) {
            is_barrier_[i - function_.body_begin] = true;
            last = i;
          }
        }
      }
    }
  }

  [[nodiscard]] bool is_barrier(std::size_t at) const {
    return is_barrier_[at - function_.body_begin];
  }

  // That a load reads by its name, all or a fixed part of it.
  [[nodiscard]] std::string_view variable_of(std::size_t at) const {
    const Instruction* const instruction = instruction_at(at);
    if (instruction == nullptr || instruction->opcode != Opcode::kLd) {
      return {};
    }
    const Effect effect = classify(*instruction);
    const Operand* const address = address_of(module_.statements[at], effect);
    const bool is_named = address != nullptr && effect.space == StateSpace::kShared &&
                          address->kind == Operand::Kind::kAddress &&
                          address->elements.size() == 1 &&
                          address->elements[0].kind == Operand::Kind::kSymbol &&
                          address->elements[0].elements.empty();
    return is_named && shared_.own.contains(address->elements[0].name) ? address->elements[0].name
                                                                       : std::string_view{};
  }

  [[nodiscard]] Sources sources_of(const Operand& operand) const {
    Sources sources;
    if (operand.kind == Operand::Kind::kSymbol && shared_.all.contains(operand.name)) {
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
  [[nodiscard]] Sources computed(const Instruction& instruction) const {
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
    return all;
  }

  bool read_registers() {
    bool changes = false;
    for (std::size_t i = function_.body_begin; i < function_.body_end; ++i) {
      const Instruction* const instruction = instruction_at(i);
      if (instruction == nullptr || instruction->operands.empty() ||
          instruction->operands[0].kind == Operand::Kind::kAddress) {
        continue;
      }
      const bool is_computed = classify(*instruction).opcode_class == OpcodeClass::kArithmetic;
      const Sources made = is_computed ? computed(*instruction) : Sources{.is_loaded = true};
      visit_registers(instruction->operands[0], [&](const Operand& written) {
        changes = registers_[written.name].add(made) || changes;
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
        return sources.is_loaded || sources.variables.empty() ||
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
      case kGridDependency:
      case kNoEffect:
        return false;
      case kMatrixAccess:
      case kAsyncCopy:
      case kBarrierArrive:
      case kClusterBarrier:
      case kMbarrier:
      case kCall:
      case kTexture:
      case kUnknown:
        return true;
    }
    return true;
  }

  // The last ones on all ways to a block; none where a way begins with the function.
  const std::vector<std::size_t>& barriers_into(std::uint32_t block) {
    const auto [known, is_new] = into_.try_emplace(block);
    if (!is_new) {
      return known->second;
    }
    std::vector<std::size_t>& barriers = known->second;
    std::vector<std::uint32_t> todo{block};
    std::vector<bool> is_seen(flow_.blocks.size());
    while (!todo.empty()) {
      const std::uint32_t index = todo.back();
      todo.pop_back();
      if (index == 0) {
        barriers.clear();
        return barriers;
      }
      for (const std::uint32_t before : flow_.blocks[index].predecessors) {
        if (!flow_.blocks[before].is_reachable || is_seen[before]) {
          continue;
        }
        is_seen[before] = true;
        if (const std::size_t last = last_in(flow_.blocks[before]); last != kNone) {
          barriers.push_back(last);
        } else {
          todo.push_back(before);
        }
      }
    }
    return barriers;
  }

  [[nodiscard]] std::size_t last_in(const BasicBlock& block) const {
    const std::size_t end = std::min(block.end, function_.body_end);
    if (end <= block.begin) {
      return kNone;
    }
    return is_barrier(end - 1) ? end - 1 : last_in_block_[end - 1 - function_.body_begin];
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
  const SharedVariables shared_;
  std::vector<std::size_t> loads_;
  std::vector<bool> is_barrier_;            // by statement of the body
  std::vector<std::size_t> last_in_block_;  // the barrier before it in its block
  boost::unordered_flat_map<std::string_view, Sources> registers_;
  std::map<std::uint32_t, std::vector<std::size_t>> into_;
  std::map<std::pair<std::size_t, std::string_view>, bool> written_;
};

}  // namespace

SteadyLoads::SteadyLoads(const Module& module, const Function& function, const ControlFlow& flow) {
  Finder finder(module, function, flow);
  for (const std::size_t load : finder.loads()) {
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

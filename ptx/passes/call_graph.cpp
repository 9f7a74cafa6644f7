#include <algorithm>

#include <boost/unordered/unordered_flat_map.hpp>

#include "device_logger/memory_order.h"
#include "ptx/analysis/constants.h"
#include "ptx/analysis/program.h"
#include "ptx/analysis/spins.h"
#include "ptx/passes/passes.h"

namespace barracuda::ptx::call_graph {
namespace {

using FunctionIndices = boost::unordered_flat_map<std::string_view, std::uint32_t>;

FunctionIndices index_definitions(const Module& module) {
  FunctionIndices indices;
  for (std::uint32_t i = 0; i < module.functions.size(); ++i) {
    if (module.functions[i].has_body) {
      indices.emplace(module.functions[i].name, i);
    }
  }
  return indices;
}

bool is_ordering(const Effect& effect) {
  return is_shared_access(effect) &&
         (wire::has_acquire(effect.order) || wire::has_release(effect.order));
}

bool is_logged(const Effect& effect, bool in_entry) {
  return is_shared_access(effect) || is_matrix_access(effect) || is_event(effect, in_entry) ||
         is_asynchronous(effect);
}

bool is_end(const Effect& effect) {
  return effect.opcode_class == OpcodeClass::kExit || effect.opcode_class == OpcodeClass::kReturn;
}

// A fence that makes strong accesses synchronise.
bool is_fence(const Effect& effect) {
  const bool is_of_maps =
      effect.opcode_class == OpcodeClass::kProxyFence && effect.proxy == wire::Proxy::kTensorMap;
  return (effect.opcode_class == OpcodeClass::kFence && !effect.is_restricted) || is_of_maps;
}

// Walks one function's body.
class BodyReader {
 public:
  BodyReader(Program& program, const FunctionIndices& indices)
      : program_(program), indices_(indices) {}

  void read(std::uint32_t index) {
    FunctionFacts& facts = program_.functions[index];
    const Function& function = program_.function(index);
    std::size_t logged = 0;
    bool is_empty = true;
    std::optional<wire::Scope> fence;
    for (std::size_t i = function.body_begin; i < function.body_end; ++i) {
      const Statement& statement = program_.module.statements[i];
      if (statement.kind != StatementKind::kInstruction) {
        continue;
      }
      const Effect& effect = program_.effects[i];
      read_operands(statement.instruction, facts);
      if (is_fence(effect)) {
        fence = effect.scope;
      }
      facts.has_fence = facts.has_fence || is_fence(effect) || is_ordering(effect);
      facts.synchronises =
          facts.synchronises || facts.has_fence ||
          (effect.opcode_class == OpcodeClass::kAtomic && is_result_read(function, i));
      is_empty = is_empty && is_end(effect);
      const bool is_heap_call = effect.opcode_class == OpcodeClass::kCall &&
                                heap_call_at(program_.module, function, i).has_value();
      logged += is_logged(effect, function.is_entry) || effect.not_covered || is_heap_call ? 1 : 0;
    }
    const Spins spins = find_spins(program_, index);
    facts.spins = spins.there_are;
    facts.spins_on_shared = spins.on_shared;
    facts.synchronises = facts.synchronises || facts.spins;
    facts.may_log = logged > 0;
    facts.is_empty = is_empty;
    if (logged == 1 && facts.callees.empty() && !facts.calls_indirectly) {
      facts.fence_wrapper = fence;
    }
    std::ranges::sort(facts.symbols);
    const auto repeated = std::ranges::unique(facts.symbols);
    facts.symbols.erase(repeated.begin(), repeated.end());
  }

 private:
  // A thread that reads what an atomic found there may observe other threads' atomics, which orders
  // them before what it does to that location next (RACE_RULES section 1), even without a fence.
  [[nodiscard]] bool is_result_read(const Function& function, std::size_t atomic) const {
    const Instruction& instruction = program_.module.statements[atomic].instruction;
    if (instruction.operands.empty() || instruction.operands[0].kind != Operand::Kind::kRegister) {
      return false;
    }
    const std::string_view result = instruction.operands[0].name;
    for (std::size_t i = function.body_begin; i < function.body_end; ++i) {
      const Statement& statement = program_.module.statements[i];
      bool reads = statement.instruction.predicate == result;
      for (const Operand& operand : statement.instruction.operands) {
        visit_registers(operand,
                        [&](const Operand& name) { reads = reads || name.name == result; });
      }
      if (reads && i != atomic) {
        return true;
      }
    }
    return false;
  }

  void read_operands(const Instruction& instruction, FunctionFacts& facts) {
    const Operand* callee = instruction.opcode == Opcode::kCall ? callee_of(instruction) : nullptr;
    if (callee != nullptr) {
      read_callee(*callee, facts);
    }
    for (const Operand& operand : instruction.operands) {
      if (&operand != callee) {
        read_symbols(operand, facts);
      }
    }
  }

  void read_callee(const Operand& callee, FunctionFacts& facts) {
    if (callee.kind == Operand::Kind::kRegister) {
      facts.calls_indirectly = true;
      return;
    }
    if (const auto found = indices_.find(callee.name); found != indices_.end()) {
      facts.callees.push_back(found->second);
    }
  }

  void read_symbols(const Operand& operand, FunctionFacts& facts) {
    if (operand.kind == Operand::Kind::kSymbol) {
      facts.symbols.push_back(operand.name);
      if (const auto found = indices_.find(operand.name); found != indices_.end()) {
        program_.functions[found->second].is_address_taken = true;
      }
    }
    for (const Operand& element : operand.elements) {
      read_symbols(element, facts);
    }
  }

  Program& program_;
  const FunctionIndices& indices_;
};

// Functions whose address a variable holds.
void read_initializers(Program& program, const FunctionIndices& indices) {
  for (const Statement& statement : program.module.statements) {
    for (const Variable& variable : statement.variables) {
      for (const Operand& value : variable.initializer) {
        if (const auto found = indices.find(value.name); found != indices.end()) {
          program.functions[found->second].is_address_taken = true;
        }
      }
    }
  }
}

std::vector<std::uint32_t> find_reachable(const Program& program,
                                          const std::vector<std::uint32_t>& address_taken,
                                          std::uint32_t start) {
  std::vector<bool> seen(program.functions.size());
  std::vector<std::uint32_t> found, waiting{start};
  seen[start] = true;
  const auto visit = [&](const std::vector<std::uint32_t>& callees) {
    for (const std::uint32_t callee : callees) {
      if (!seen[callee]) {
        seen[callee] = true;
        waiting.push_back(callee);
      }
    }
  };
  while (!waiting.empty()) {
    const std::uint32_t index = waiting.back();
    waiting.pop_back();
    found.push_back(index);
    visit(program.functions[index].callees);
    if (program.functions[index].calls_indirectly) {
      visit(address_taken);
    }
  }
  return found;
}

void spread(Program& program) {
  for (std::uint32_t i = 0; i < program.functions.size(); ++i) {
    const std::vector<std::uint32_t>& reachable = program.functions[i].reachable;
    const auto any = [&](bool FunctionFacts::* fact) {
      return std::ranges::any_of(reachable,
                                 [&](std::uint32_t r) { return program.functions[r].*fact; });
    };
    const bool synchronises = any(&FunctionFacts::synchronises);
    if (program.function(i).is_entry && synchronises) {
      for (const std::uint32_t callee : reachable) {
        program.functions[callee].is_numbered = true;
      }
    }
    // A function that no kernel of this module reaches may still be called through a pointer.
    program.functions[i].is_numbered = program.functions[i].is_numbered || synchronises;
  }
  std::vector<bool> may_log(program.functions.size());
  for (std::uint32_t i = 0; i < program.functions.size(); ++i) {
    may_log[i] = std::ranges::any_of(program.functions[i].reachable,
                                     [&](std::uint32_t r) { return program.functions[r].may_log; });
  }
  for (std::uint32_t i = 0; i < program.functions.size(); ++i) {
    program.functions[i].may_log = may_log[i];
  }
}

}  // namespace

Expected<void> run(Program& program) {
  const Module& module = program.module;
  program.functions.assign(module.functions.size(), {});
  const FunctionIndices indices = index_definitions(module);
  BodyReader reader(program, indices);
  for (const auto& [name, index] : indices) {
    reader.read(index);
  }
  read_initializers(program, indices);
  std::vector<std::uint32_t> address_taken;
  for (const auto& [name, index] : indices) {
    if (program.functions[index].is_address_taken) {
      address_taken.push_back(index);
    }
  }
  for (const auto& [name, index] : indices) {
    program.functions[index].reachable = find_reachable(program, address_taken, index);
  }
  spread(program);
  return {};
}

}  // namespace barracuda::ptx::call_graph
